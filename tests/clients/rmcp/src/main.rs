//! The official Rust client against das: `DAS=... POLICY=... cargo run`. Fails by panicking.

use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::TokioChildProcess;
use serde_json::{Map, Value, json};
use tokio::process::Command;

fn arguments(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

#[tokio::main]
async fn main() {
    let das = std::env::var("DAS").expect("DAS names the program");
    let policy = std::env::var("POLICY").expect("POLICY names a policy");
    let mut command = Command::new(das);
    command.args(["mcp", "--policy", &policy]);
    let client =
        ().serve(TokioChildProcess::new(command).expect("das starts")).await.expect("a handshake");

    let tools = client.list_all_tools().await.expect("a list");
    assert_eq!(tools.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>(), ["run_code"]);

    let call = |code: &str| {
        let arguments = arguments(json!({"code": code, "language": "shell"}));
        client.call_tool(CallToolRequestParams::new("run_code").with_arguments(arguments))
    };
    let result = call("echo $((6 * 7))").await.expect("an answer");
    assert_eq!(result.is_error, Some(false), "{result:?}");
    assert_eq!(result.structured_content.expect("facts")["stdout"], "42\n");
    let result = call("exit 3").await.expect("an answer");
    assert_eq!(result.is_error, Some(true), "{result:?}");
    assert_eq!(result.structured_content.expect("facts")["exit_code"], 3);

    // Given up in mid-run; the session goes on.
    assert!(tokio::time::timeout(Duration::from_secs(1), call("sleep 60")).await.is_err());
    let result = call("echo still here").await.expect("an answer");
    assert_eq!(result.structured_content.expect("facts")["stdout"], "still here\n");
    client.cancel().await.expect("an orderly end");
    println!("ok   rmcp 3.11: list, call, error, give up, close");
}
