//! The cache of message packages, which in rclrs are C libraries. Here nothing is loaded: an entry
//! says that the package was found.

use super::types::has_package;
use crate::error::DynamicMessageError;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A package with messages that was found.
#[derive(Debug)]
pub struct MessagePackage(());

/// The packages with messages that were asked for.
#[derive(Debug, Default)]
pub struct DynamicMessageLibraryCache(BTreeMap<String, Arc<MessagePackage>>);

impl DynamicMessageLibraryCache {
    /// Finds a package.
    ///
    /// # Errors
    /// [`DynamicMessageError::RequiredPrefixNotSourced`].
    pub fn get_or_load(
        &mut self,
        package_name: &str,
    ) -> Result<Arc<MessagePackage>, DynamicMessageError> {
        if !has_package(package_name) {
            let package = package_name.into();
            return Err(DynamicMessageError::RequiredPrefixNotSourced { package });
        }
        let package = || Arc::new(MessagePackage(()));
        Ok(self.0.entry(package_name.into()).or_insert_with(package).clone())
    }

    /// Forgets a package; returns whether it was known.
    pub fn unload(&mut self, package_name: &str) -> bool {
        self.0.remove(package_name).is_some()
    }
}

/// The cache of the program.
pub fn get_dynamic_message_package_cache() -> &'static Mutex<DynamicMessageLibraryCache> {
    static CACHE: Mutex<DynamicMessageLibraryCache> =
        Mutex::new(DynamicMessageLibraryCache(BTreeMap::new()));
    &CACHE
}
