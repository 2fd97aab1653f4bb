//! Links libelizainference: the file that ELIZA_INFERENCE_LIBRARY names, else the one that the linker finds.

use std::{env, path::Path};

fn main() {
    println!("cargo:rerun-if-env-changed=ELIZA_INFERENCE_LIBRARY");
    println!("cargo:rustc-link-lib=dylib=elizainference");
    let library = match env::var_os("ELIZA_INFERENCE_LIBRARY") {
        Some(library) => library,
        None => return,
    };
    let folder = Path::new(&library).parent().expect("ELIZA_INFERENCE_LIBRARY is the path of a file").display();
    println!("cargo:rustc-link-search=native={folder}");
    // For the examples and tests of this package; a program that uses it finds its library by its own means.
    if env::var_os("CARGO_CFG_UNIX").is_some() {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
    }
}
