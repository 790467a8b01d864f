//! Pages that stay in memory, so that no callback waits for the disk.

/// Locks all present and future pages of this process where that is permitted; otherwise it warns,
/// and everything continues as before.
#[cfg(target_os = "linux")]
pub(crate) fn lock_all() {
    use nix::sys::mman::{MlockAllFlags, mlockall};
    if !may_lock_memory() {
        tracing::warn!(
            "memory is not locked, for that is not permitted: it needs CAP_IPC_LOCK or an \
             unlimited RLIMIT_MEMLOCK (`ulimit -l unlimited`); page faults may delay callbacks"
        );
        return;
    }
    if let Err(error) = mlockall(MlockAllFlags::MCL_CURRENT | MlockAllFlags::MCL_FUTURE) {
        tracing::warn!(
            %error,
            "memory is not locked: give the process more memory, or leave the option out; page \
             faults may delay callbacks"
        );
    }
}

/// Whether this process may lock all of its memory, present and future.
#[must_use]
pub fn may_lock_memory() -> bool {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::resource::{Resource, getrlimit};
        let (limit, _) = getrlimit(Resource::RLIMIT_MEMLOCK).unwrap_or((0, 0));
        may_lock_all(limit, &std::fs::read_to_string("/proc/self/status").unwrap_or_default())
    }
    #[cfg(not(target_os = "linux"))]
    false
}

/// Warns.
#[cfg(not(target_os = "linux"))]
pub(crate) fn lock_all() {
    tracing::warn!("memory is not locked: mlockall is used on Linux only");
}

/// Whether a process with this limit and `/proc/self/status` may lock all that it ever maps. With
/// less, the lock could succeed, and a later allocation fail for it.
#[cfg(target_os = "linux")]
fn may_lock_all(limit: u64, status: &str) -> bool {
    const CAP_IPC_LOCK: u32 = 14;
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let capabilities = effective.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    limit == nix::sys::resource::RLIM_INFINITY
        || capabilities.is_some_and(|set| set >> CAP_IPC_LOCK & 1 == 1)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn locking_needs_a_capability_or_no_limit() {
        let with = "Name:\ta\nCapEff:\t0000000000004000\n";
        let without = "Name:\ta\nCapEff:\t000001fffeffbfff\n";
        assert!(may_lock_all(0, with));
        assert!(!may_lock_all(8 << 20, without));
        assert!(!may_lock_all(8 << 20, ""));
        assert!(may_lock_all(nix::sys::resource::RLIM_INFINITY, without));
    }
}
