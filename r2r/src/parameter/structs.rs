//! Structs whose fields are parameters.

use super::{Parameter, ParameterValue};
use crate::error::{Error, Result};
use indexmap::IndexMap;

/// A struct whose fields are parameters; derive it. A field may be such a struct itself: its
/// parameters have names like `outer.inner`.
pub trait RosParams {
    /// Adds the parameters to `params`; those that are there already, from the command line, give
    /// the fields their values.
    ///
    /// # Errors
    /// For a value of another type.
    fn register_parameters(
        &mut self,
        prefix: &str,
        param: Option<Parameter>,
        params: &mut IndexMap<String, Parameter>,
    ) -> Result<()>;

    /// The value of a parameter.
    ///
    /// # Errors
    /// [`Error::InvalidParameterName`].
    fn get_parameter(&mut self, param_name: &str) -> Result<ParameterValue>;

    /// Sets a parameter.
    ///
    /// # Errors
    /// For an unknown name, a value of another type, or one out of range.
    fn set_parameter(&mut self, param_name: &str, param_val: &ParameterValue) -> Result<()>;

    /// Whether [`set_parameter`](Self::set_parameter) would succeed.
    ///
    /// # Errors
    /// For an unknown name, a value of another type, or one out of range.
    fn check_parameter(&self, param_name: &str, param_val: &ParameterValue) -> Result<()>;
}

/// Implements the trait for a type of fields: by the variant of its values, and the conversions to
/// and from its content.
macro_rules! leaf {
    ($($ty:ty: $variant:ident, $to:expr, $from:expr;)*) => {$(
        impl RosParams for $ty {
            fn register_parameters(
                &mut self,
                prefix: &str,
                param: Option<Parameter>,
                params: &mut IndexMap<String, Parameter>,
            ) -> Result<()> {
                // A value from the command line; the entry is moved to the order of the fields.
                if let Some(given) = params.shift_remove(prefix) {
                    let set = self.set_parameter("", &given.value);
                    set.map_err(|error| error.update_param_name(prefix))?;
                }
                let param = param.unwrap_or_else(Parameter::empty);
                let value = self.get_parameter("")?;
                params.insert(prefix.to_owned(), Parameter { value, ..param });
                Ok(())
            }

            fn get_parameter(&mut self, param_name: &str) -> Result<ParameterValue> {
                check_is_leaf(param_name)?;
                Ok(ParameterValue::$variant($to(self)))
            }

            fn set_parameter(&mut self, name: &str, value: &ParameterValue) -> Result<()> {
                check_is_leaf(name)?;
                *self = leaf_value(value)?;
                Ok(())
            }

            fn check_parameter(&self, name: &str, value: &ParameterValue) -> Result<()> {
                check_is_leaf(name)?;
                leaf_value::<$ty>(value).map(drop)
            }
        }

        impl Leaf for $ty {
            fn of(value: &ParameterValue) -> Result<Self> {
                match value {
                    ParameterValue::$variant(value) => $from(value),
                    // The caller, who knows the name, completes the error.
                    _ => Err(Error::InvalidParameterType {
                        name: String::new(),
                        ty: concat!("ParameterValue::", stringify!($variant)),
                    }),
                }
            }
        }
    )*};
}

trait Leaf: Sized {
    fn of(value: &ParameterValue) -> Result<Self>;
}

fn leaf_value<T: Leaf>(value: &ParameterValue) -> Result<T> {
    T::of(value)
}

/// A field that is no struct has no parameters within.
fn check_is_leaf(name: &str) -> Result<()> {
    match name.is_empty() {
        true => Ok(()),
        false => Err(Error::InvalidParameterName { name: name.to_owned() }),
    }
}

fn integer<T: TryFrom<i64, Error: std::fmt::Display>>(value: &i64) -> Result<T> {
    T::try_from(*value)
        .map_err(|error| Error::ParameterValueConv { name: String::new(), msg: error.to_string() })
}

leaf! {
    bool: Bool, |value: &bool| *value, |value: &bool| Ok(*value);
    i8: Integer, |value: &i8| i64::from(*value), integer;
    i16: Integer, |value: &i16| i64::from(*value), integer;
    i32: Integer, |value: &i32| i64::from(*value), integer;
    i64: Integer, |value: &i64| *value, |value: &i64| Ok(*value);
    u8: Integer, |value: &u8| i64::from(*value), integer;
    u16: Integer, |value: &u16| i64::from(*value), integer;
    u32: Integer, |value: &u32| i64::from(*value), integer;
    f32: Double, |value: &f32| f64::from(*value), |value: &f64| Ok(*value as f32);
    f64: Double, |value: &f64| *value, |value: &f64| Ok(*value);
    String: String, |value: &String| value.clone(), |value: &String| Ok(value.clone());
}
