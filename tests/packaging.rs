//! What registries and clients read of das fits their schemas, and tells of this das.
//!
//! The rules are those of the MCP registry's server.schema.json of 2025-12-11 and of the MCPB
//! manifest 0.3, as far as the files use them.

use serde_json::Value;

const SERVER: &str = include_str!("../server.json");
const MANIFEST: &str = include_str!("../mcpb/manifest.json");

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("a JSON file")
}

/// Checks that `object` has all of `required` and nothing that is in neither list.
#[track_caller]
fn has_keys(object: &Value, required: &[&str], optional: &[&str]) {
    let object = object.as_object().expect("an object");
    for key in required {
        assert!(object.contains_key(*key), "`{key}` is missing");
    }
    for key in object.keys() {
        let known = required.contains(&key.as_str()) || optional.contains(&key.as_str());
        assert!(known, "`{key}` is unknown");
    }
}

#[track_caller]
fn is_url(value: &Value) {
    let url = value.as_str().expect("a text");
    assert!(url.starts_with("https://") && !url.contains(char::is_whitespace), "{url}");
}

#[test]
fn the_registrys_file_fits_its_schema() {
    let server = parse(SERVER);
    let optional = ["$schema", "title", "repository", "packages", "websiteUrl", "icons", "remotes"];
    has_keys(&server, &["name", "description", "version"], &optional);
    assert_eq!(
        server["$schema"],
        "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
    );
    let (namespace, name) = server["name"].as_str().unwrap().split_once('/').unwrap();
    let plain = |text: &str, more: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    };
    assert!(plain(namespace, ".-") && plain(name, "._-"), "{namespace}/{name}");
    assert!((1..=100).contains(&server["description"].as_str().unwrap().chars().count()));
    assert!((1..=100).contains(&server["title"].as_str().unwrap().chars().count()));
    has_keys(&server["repository"], &["url", "source"], &["id", "subfolder"]);
    is_url(&server["repository"]["url"]);
}

#[test]
fn the_bundles_manifest_fits_its_schema() {
    let manifest = parse(MANIFEST);
    has_keys(
        &manifest,
        &["manifest_version", "name", "version", "description", "author", "server"],
        &[
            "display_name",
            "long_description",
            "repository",
            "homepage",
            "documentation",
            "support",
            "icon",
            "screenshots",
            "tools",
            "tools_generated",
            "prompts",
            "prompts_generated",
            "keywords",
            "license",
            "privacy_policies",
            "compatibility",
            "user_config",
        ],
    );
    assert_eq!(manifest["manifest_version"], "0.3");
    has_keys(&manifest["author"], &["name"], &["email", "url"]);
    has_keys(&manifest["repository"], &["type", "url"], &[]);
    is_url(&manifest["repository"]["url"]);
    has_keys(&manifest["server"], &["type", "entry_point", "mcp_config"], &[]);
    assert_eq!(manifest["server"]["type"], "binary");
    let start = &manifest["server"]["mcp_config"];
    has_keys(start, &["command"], &["args", "env", "platform_overrides"]);
    assert!(start["args"].as_array().unwrap().iter().all(Value::is_string));
    assert!(start["env"].as_object().unwrap().values().all(Value::is_string));
    has_keys(&manifest["compatibility"], &[], &["claude_desktop", "platforms", "runtimes"]);
    for platform in manifest["compatibility"]["platforms"].as_array().unwrap() {
        assert!(["darwin", "linux", "win32"].contains(&platform.as_str().unwrap()));
    }
    for option in manifest["user_config"].as_object().unwrap().values() {
        let optional = ["required", "default", "multiple", "sensitive", "min", "max"];
        has_keys(option, &["type", "title", "description"], &optional);
        let kinds = ["string", "number", "boolean", "directory", "file"];
        assert!(kinds.contains(&option["type"].as_str().unwrap()));
    }
}

#[test]
fn the_bundle_starts_das_with_what_its_user_configured() {
    let manifest = parse(MANIFEST);
    let start = &manifest["server"]["mcp_config"];
    let entry = manifest["server"]["entry_point"].as_str().unwrap();
    assert_eq!(start["command"], format!("${{__dirname}}/{entry}"));
    assert_eq!(start["args"], serde_json::json!(["mcp"]));
    for (name, value) in start["env"].as_object().unwrap() {
        let option = value.as_str().unwrap();
        let option = option.strip_prefix("${user_config.").unwrap().strip_suffix('}').unwrap();
        let option = &manifest["user_config"][option];
        // Left empty it must mean what it means when it is not there.
        assert_eq!(
            (&option["required"], &option["default"]),
            (&false.into(), &"".into()),
            "{name}"
        );
    }
}

#[test]
fn both_tell_of_this_version_and_of_the_one_tool() {
    let (server, manifest) = (parse(SERVER), parse(MANIFEST));
    assert_eq!(server["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(manifest["license"], env!("CARGO_PKG_LICENSE"));
    assert_eq!(manifest["tools"].as_array().unwrap().len(), 1);
    has_keys(&manifest["tools"][0], &["name"], &["description"]);
    assert_eq!(manifest["tools"][0]["name"], "run_code");
    assert_eq!(server["repository"]["url"], manifest["repository"]["url"]);
}
