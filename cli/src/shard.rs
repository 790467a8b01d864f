//! Shards: which part of a list this process does, as told by the command line or by the engine
//! that started it.
//!
//! Item k belongs to shard k mod N, so each shard has items of all jobs and recordings, and shards
//! take about the same time although items do not. On the command line shards are counted from
//! one, as in nextest, Jest and Playwright.

/// One part of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    /// Counted from zero.
    index: u64,
    count: u64,
}

impl Default for Shard {
    fn default() -> Self {
        Self { index: 0, count: 1 }
    }
}

impl Shard {
    /// Whether it has the item with this number, counted from zero.
    pub(crate) fn has(self, item: u64) -> bool {
        item % self.count == self.index
    }

    /// How many shards there are.
    pub(crate) fn count(self) -> u64 {
        self.count
    }

    fn new(index: u64, count: u64, said: &str) -> Result<Self, String> {
        match index < count {
            true => Ok(Self { index, count }),
            false => Err(format!("{said}: there are {count} shards; check the size of the job")),
        }
    }
}

/// Parses `K/N`, or `auto` for the shard that the environment names.
pub(crate) fn parse(text: &str) -> Result<Shard, String> {
    match text {
        "auto" => auto(&|name| std::env::var(name).ok().filter(|value| !value.is_empty())),
        _ => of_fraction(text),
    }
}

fn of_fraction(text: &str) -> Result<Shard, String> {
    let parse = |text: &str| text.parse::<u64>().ok().filter(|number| *number > 0);
    let fraction = text.split_once('/').and_then(|(k, n)| Some((parse(k)?, parse(n)?)));
    let fraction = fraction.filter(|(k, n)| k <= n);
    let (k, n) = fraction.ok_or("write the shard and their number, 1/8 to 8/8, or `auto`")?;
    Ok(Shard { index: k - 1, count: n })
}

/// The variables of an environment.
type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

fn auto(variables: Variables<'_>) -> Result<Shard, String> {
    let number = |name: &str| match variables(name) {
        None => Ok(None),
        Some(text) => match text.parse::<u64>() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(format!("{name} is `{text}`, which is no number")),
        },
    };
    // The size of the job, from a variable that the engine or its manifest sets.
    let size = |index: &str, name: &str, way_out: &str| {
        number(name)?.ok_or_else(|| format!("{index} is set, and {name} is not; {way_out}"))
    };
    if let Some(text) = variables("RINGSPIN_SHARD") {
        return of_fraction(&text)
            .map_err(|way_out| format!("RINGSPIN_SHARD is `{text}`: {way_out}"));
    }
    if let Some(id) = number("SLURM_ARRAY_TASK_ID")? {
        let name = "SLURM_ARRAY_TASK_ID";
        let count = size(name, "SLURM_ARRAY_TASK_COUNT", "start the array with `sbatch --array`")?;
        let min = number("SLURM_ARRAY_TASK_MIN")?.unwrap_or(0);
        let step = number("SLURM_ARRAY_TASK_STEP")?.unwrap_or(1).max(1);
        let offset = id.checked_sub(min).filter(|offset| offset % step == 0);
        let said = format!("{name}={id} is no step of an array from {min} by {step}");
        let index = offset.ok_or_else(|| format!("{said}; use `--array=0-7`, without a list"))?;
        return Shard::new(index / step, count, &said);
    }
    for (name, of, from, way_out) in [
        (
            "AWS_BATCH_JOB_ARRAY_INDEX",
            "AWS_BATCH_JOB_ARRAY_SIZE",
            0,
            "set it in the job definition",
        ),
        ("JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", 0, "set it to `completions` in the manifest"),
        ("CI_NODE_INDEX", "CI_NODE_TOTAL", 1, "set both"),
    ] {
        let Some(id) = number(name)? else { continue };
        let count = size(name, of, way_out)?;
        let said = format!("{name}={id} is out of range, which starts with {from}");
        let index = id.checked_sub(from).ok_or_else(|| said.clone())?;
        return Shard::new(index, count, &said);
    }
    Err("no engine has started this process: none of RINGSPIN_SHARD, SLURM_ARRAY_TASK_ID, \
         AWS_BATCH_JOB_ARRAY_INDEX, JOB_COMPLETION_INDEX, CI_NODE_INDEX is set; write the shard, \
         as 1/8, or set RINGSPIN_SHARD=1/8"
        .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(index: u64, count: u64) -> Shard {
        Shard { index, count }
    }

    /// The shard of an environment like `A=1 B=2`.
    fn of(environment: &str) -> Result<Shard, String> {
        auto(&|name| {
            let mut set = environment.split_whitespace().filter_map(|word| word.split_once('='));
            set.find(|(set, _)| *set == name).map(|(_, value)| value.into())
        })
    }

    #[test]
    fn each_item_belongs_to_one_shard_and_neighbours_to_different_ones() {
        for count in 1..9 {
            for item in 0..50 {
                let of: Vec<_> = (0..count).filter(|k| shard(*k, count).has(item)).collect();
                assert_eq!(of, [item % count]);
            }
        }
    }

    #[test]
    fn shards_are_counted_from_one() {
        assert_eq!(parse("1/8"), Ok(shard(0, 8)));
        assert_eq!(parse("8/8"), Ok(shard(7, 8)));
        for wrong in ["0/8", "9/8", "1/0", "1", "a/b", "-1/8", "1/8/2", ""] {
            let error = parse(wrong).unwrap_err();
            assert!(error.contains("1/8 to 8/8"), "{wrong}: {error}");
        }
    }

    #[test]
    fn each_engine_names_the_shard_in_its_own_way() {
        for (environment, expected) in [
            ("JOB_COMPLETION_INDEX=0 JOB_COMPLETIONS=8", shard(0, 8)),
            ("JOB_COMPLETION_INDEX=7 JOB_COMPLETIONS=8", shard(7, 8)),
            ("AWS_BATCH_JOB_ARRAY_INDEX=3 AWS_BATCH_JOB_ARRAY_SIZE=4", shard(3, 4)),
            ("CI_NODE_INDEX=1 CI_NODE_TOTAL=2", shard(0, 2)),
            ("RINGSPIN_SHARD=2/8 CI_NODE_INDEX=1 CI_NODE_TOTAL=2", shard(1, 8)),
            ("SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=1", shard(2, 8)),
            (
                "SLURM_ARRAY_TASK_ID=10 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=2 \
                 SLURM_ARRAY_TASK_STEP=4",
                shard(2, 4),
            ),
        ] {
            assert_eq!(of(environment), Ok(expected), "{environment}");
        }
    }

    #[test]
    fn missing_and_wrong_variables_are_named() {
        for (environment, said) in [
            ("", "write the shard, as 1/8, or set RINGSPIN_SHARD=1/8"),
            ("JOB_COMPLETION_INDEX=0", "JOB_COMPLETIONS is not; set it to `completions`"),
            ("JOB_COMPLETION_INDEX=8 JOB_COMPLETIONS=8", "JOB_COMPLETION_INDEX=8 is out of range"),
            ("JOB_COMPLETION_INDEX=x JOB_COMPLETIONS=8", "is `x`, which is no number"),
            ("JOB_COMPLETION_INDEX=0 JOB_COMPLETIONS=0", "there are 0 shards"),
            ("CI_NODE_INDEX=0 CI_NODE_TOTAL=2", "CI_NODE_INDEX=0 is out of range, which starts w"),
            ("CI_NODE_INDEX=3 CI_NODE_TOTAL=2", "there are 2 shards"),
            ("AWS_BATCH_JOB_ARRAY_INDEX=1", "AWS_BATCH_JOB_ARRAY_SIZE is not"),
            ("SLURM_ARRAY_TASK_ID=1", "SLURM_ARRAY_TASK_COUNT is not; start the array with"),
            (
                "SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1",
                "there are 3 shards",
            ),
            (
                "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1",
                "SLURM_ARRAY_TASK_ID=0 is no step of an array from 1 by 1; use `--array=0-7`",
            ),
            ("RINGSPIN_SHARD=9/8", "RINGSPIN_SHARD is `9/8`: write the shard"),
        ] {
            let error = of(environment).unwrap_err();
            assert!(error.contains(said), "{environment}: {error}");
        }
    }
}
