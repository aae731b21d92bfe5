//! What each method is answered, in each version.

use serde_json::{Value, json};

use super::*;
use crate::mcp::rpc::{Incoming, Message, Response, parse};
use crate::mcp::tool::always::Always;
use crate::mcp::tool::test_outcome::{captured, test_outcome};
use crate::policy::SandboxPolicy;
use crate::runner::Stopper;
use crate::{Outcome, Verdict};

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const MODERN: &str = "2026-07-28";

fn protocol() -> Protocol {
    Protocol::new(Arc::new(Tool::new(SandboxPolicy::default(), Always(None))))
}

fn initialized(version: &str) -> Protocol {
    let mut protocol = protocol();
    let answer = reply(&mut protocol, "initialize", &json!({"protocolVersion": version}));
    assert_eq!(answer["result"]["protocolVersion"], version);
    protocol
}

/// `params` with what makes a request modern.
fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

fn action(protocol: &mut Protocol, method: &str, params: &Value, place: Place) -> Action {
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let Incoming::One(Message::Request(request)) = parse(line.as_bytes()) else {
        panic!("not a request: {line}")
    };
    protocol.decide(&request.method, request.params, place)
}

/// The response to a request that is answered at once.
fn reply(protocol: &mut Protocol, method: &str, params: &Value) -> Value {
    let Action::Reply(reply) = action(protocol, method, params, Place::Alone) else {
        panic!("{method} is not answered at once")
    };
    serde_json::to_value(Response::new(None, reply)).unwrap()
}

fn code(response: &Value) -> i64 {
    response["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {response}"))
}

fn run(protocol: &mut Protocol, params: &Value) -> Call {
    let Action::Run(call) = action(protocol, "tools/call", params, Place::Alone) else {
        panic!("does not run: {params}")
    };
    call
}

#[test]
fn initialize_tells_the_agreed_version_who_das_is_and_that_it_has_tools() {
    for version in LEGACY {
        let answer = reply(&mut protocol(), "initialize", &json!({"protocolVersion": version}));
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["capabilities"], json!({"tools": {}}));
        assert_eq!(result["serverInfo"]["name"], "das");
        assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(result["serverInfo"].get("title").is_some(), version >= "2025-06-18");
        assert!(result["instructions"].is_string());
    }
}

#[test]
fn initialize_never_fails_over_a_version_and_may_come_again() {
    let mut protocol = protocol();
    for (asked, agreed) in
        [("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-11-25"), (MODERN, "2025-11-25")]
    {
        let answer = reply(&mut protocol, "initialize", &json!({"protocolVersion": asked}));
        assert_eq!(answer["result"]["protocolVersion"], agreed);
    }
}

#[test]
fn initialize_without_a_version_is_malformed() {
    for params in
        [json!({}), json!({"protocolVersion": 20_251_125}), json!({"protocolVersion": null})]
    {
        assert_eq!(code(&reply(&mut protocol(), "initialize", &params)), -32602);
    }
}

#[test]
fn initialize_is_legacy_whatever_its_meta_says_but_unknown_without_a_version_of_its_own() {
    let params = modern(json!({"protocolVersion": "2025-11-25"}));
    let answer = reply(&mut protocol(), "initialize", &params);
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(code(&reply(&mut protocol(), "initialize", &modern(json!({})))), -32601);
}

#[test]
fn eras_mix_in_any_order() {
    let mut protocol = protocol();
    let legacy_list = |protocol: &mut Protocol| {
        let answer = reply(protocol, "tools/list", &json!({}));
        assert_eq!(answer["result"].get("resultType"), None);
    };
    let modern_list = |protocol: &mut Protocol| {
        let answer = reply(protocol, "tools/list", &modern(json!({})));
        assert_eq!(answer["result"]["resultType"], "complete");
    };
    legacy_list(&mut protocol);
    modern_list(&mut protocol);
    assert!(reply(&mut protocol, "server/discover", &modern(json!({})))["result"].is_object());
    reply(&mut protocol, "initialize", &json!({"protocolVersion": "2024-11-05"}));
    legacy_list(&mut protocol);
    modern_list(&mut protocol);
    assert_eq!(reply(&mut protocol, "ping", &json!({}))["result"], json!({}));
}

#[test]
fn before_initialize_everything_is_served() {
    assert_eq!(reply(&mut protocol(), "ping", &json!({}))["result"], json!({}));
    let tools = reply(&mut protocol(), "tools/list", &json!({}));
    assert_eq!(tools["result"]["tools"][0]["name"], "run_code");
}

#[test]
fn the_tool_is_listed_with_the_fields_of_the_version() {
    for version in LEGACY {
        let answer = reply(&mut initialized(version), "tools/list", &json!({}));
        let tool = &answer["result"]["tools"][0];
        assert_eq!(tool.get("annotations").is_some(), version >= "2025-03-26");
        assert_eq!(tool.get("title").is_some(), version >= "2025-06-18");
        assert_eq!(tool.get("outputSchema").is_some(), version >= "2025-06-18");
        assert_eq!(answer["result"].as_object().unwrap().len(), 1, "{answer}");
    }
}

#[test]
fn modern_lists_say_how_long_they_hold() {
    for method in ["tools/list", "server/discover"] {
        let answer = reply(&mut protocol(), method, &modern(json!({})));
        let result = &answer["result"];
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["cacheScope"], "public");
        assert_eq!(result["ttlMs"], 3_600_000);
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "das");
    }
}

#[test]
fn discover_tells_all_versions_the_newest_first() {
    let answer = reply(&mut protocol(), "server/discover", &modern(json!({})));
    assert_eq!(
        answer["result"]["supportedVersions"],
        json!([MODERN, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
    );
    assert_eq!(answer["result"]["capabilities"], json!({"tools": {}}));
}

#[test]
fn an_unknown_modern_version_is_told_which_there_are_before_anything_else_is_checked() {
    let params = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}});
    for method in ["server/discover", "tools/list", "tools/call", "no/such"] {
        let answer = reply(&mut protocol(), method, &params);
        assert_eq!(code(&answer), -32022);
        assert_eq!(answer["error"]["message"], "Unsupported protocol version");
        assert_eq!(answer["error"]["data"]["requested"], "2099-01-01");
        assert_eq!(answer["error"]["data"]["supported"][0], MODERN);
    }
}

#[test]
fn a_modern_request_needs_a_version_and_capabilities_and_no_more() {
    const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    const INFO: &str = "io.modelcontextprotocol/clientInfo";
    for meta in [
        json!({VERSION: MODERN}),
        json!({VERSION: MODERN, CAPABILITIES: []}),
        json!({VERSION: MODERN, CAPABILITIES: null}),
        json!({VERSION: 1, CAPABILITIES: {}}),
        json!({CAPABILITIES: {}}),
        json!({INFO: {"name": "n", "version": "v"}}),
    ] {
        for method in ["server/discover", "tools/list", "subscriptions/listen", "no/such"] {
            let answer = reply(&mut protocol(), method, &json!({"_meta": meta}));
            assert_eq!(code(&answer), -32602, "{method} {meta}");
        }
    }
    let meta = json!({VERSION: MODERN, CAPABILITIES: {"x": 1}, "traceparent": "00-0-0-00",
        "io.modelcontextprotocol/logLevel": "debug"});
    let answer = reply(&mut protocol(), "tools/list", &json!({"_meta": meta}));
    assert!(answer["result"].is_object(), "{answer}");
}

#[test]
fn a_legacy_version_in_meta_is_served_by_its_rules() {
    let params = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2025-03-26"}});
    let answer = reply(&mut protocol(), "tools/list", &params);
    assert_eq!(answer["result"]["tools"][0].get("outputSchema"), None);
    assert_eq!(answer["result"].get("resultType"), None);
}

#[test]
fn a_meta_of_other_keys_alone_does_not_make_a_request_modern() {
    let params = json!({"_meta": {"progressToken": 1, "traceparent": "x"}});
    let answer = reply(&mut initialized("2025-11-25"), "tools/list", &params);
    assert_eq!(answer["result"].get("resultType"), None);
}

#[test]
fn modern_methods_without_their_meta_are_malformed() {
    for method in ["server/discover", "subscriptions/listen"] {
        assert_eq!(code(&reply(&mut protocol(), method, &json!({}))), -32602);
    }
}

#[test]
fn lists_of_what_das_has_not_are_empty_for_legacy_clients_and_unknown_to_modern_ones() {
    for (method, key) in [
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ] {
        let answer = reply(&mut initialized("2025-11-25"), method, &json!({}));
        assert_eq!(answer["result"], json!({key: []}));
        assert_eq!(code(&reply(&mut protocol(), method, &modern(json!({})))), -32601);
    }
}

#[test]
fn what_no_version_or_this_version_has_not_is_unknown_and_named() {
    let neither = [
        "logging/setLevel",
        "completion/complete",
        "resources/read",
        "resources/subscribe",
        "resources/unsubscribe",
        "prompts/get",
        "tasks/get",
        "tasks/list",
        "notifications/initialized",
        "notifications/cancelled",
        "",
        "Tools/List",
    ];
    for method in neither {
        let answer = reply(&mut initialized("2025-11-25"), method, &json!({}));
        assert_eq!(code(&answer), -32601, "{method}");
        assert_eq!(answer["error"]["data"], json!({"method": method}));
        assert_eq!(code(&reply(&mut protocol(), method, &modern(json!({})))), -32601, "{method}");
    }
    assert_eq!(code(&reply(&mut protocol(), "ping", &modern(json!({})))), -32601);
}

#[test]
fn names_from_outside_are_quoted_short() {
    let long = "m".repeat(1 << 20);
    let version = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": long}});
    for answer in [
        reply(&mut protocol(), &long, &json!({})),
        reply(&mut protocol(), "tools/call", &json!({"name": long})),
        reply(&mut protocol(), "tools/list", &version),
    ] {
        assert!(answer.to_string().len() < 1000);
    }
}

#[test]
fn a_cursor_that_das_never_gave_is_refused() {
    for method in ["tools/list", "resources/list", "prompts/list"] {
        for cursor in [json!("abc"), json!(3)] {
            let answer = reply(&mut initialized("2025-11-25"), method, &json!({"cursor": cursor}));
            assert_eq!(code(&answer), -32602);
        }
        for cursor in [json!(null), json!("")] {
            let answer = reply(&mut initialized("2025-11-25"), method, &json!({"cursor": cursor}));
            assert!(answer["result"].is_object());
        }
    }
}

#[test]
fn an_unknown_tool_is_a_protocol_error_that_names_the_one_there_is() {
    let answer = reply(&mut initialized("2025-11-25"), "tools/call", &json!({"name": "exec"}));
    assert_eq!(code(&answer), -32602);
    assert_eq!(answer["error"]["message"], "Unknown tool: exec. Available: run_code");
}

#[test]
fn a_call_without_a_name_or_with_arguments_that_are_no_object_is_malformed() {
    for params in [
        json!({}),
        json!({"name": null}),
        json!({"name": 5, "arguments": {}}),
        json!({"name": "run_code", "arguments": []}),
        json!({"name": "run_code", "arguments": "print(1)"}),
        json!({"name": "run_code", "arguments": 1}),
        json!({"name": "run_code", "arguments": true}),
    ] {
        for params in [params.clone(), modern(params)] {
            assert_eq!(code(&reply(&mut protocol(), "tools/call", &params)), -32602, "{params}");
        }
    }
}

#[test]
fn arguments_that_are_wrong_are_the_tools_to_answer_and_teach() {
    for arguments in
        [json!(null), json!({}), json!({"code": 1}), json!({"code": "1", "language": "x"})]
    {
        let params = json!({"name": "run_code", "arguments": arguments});
        let result = reply(&mut initialized("2025-11-25"), "tools/call", &params)["result"].clone();
        assert_eq!(result["isError"], true);
        assert_eq!(result["structuredContent"]["verdict"], "invalid_input");
        let hint = result["structuredContent"]["hint"].as_str().unwrap();
        assert!(result["content"][0]["text"].as_str().unwrap().ends_with(hint));
    }
    let absent = reply(&mut initialized("2025-11-25"), "tools/call", &json!({"name": "run_code"}));
    assert_eq!(absent["result"]["structuredContent"]["verdict"], "invalid_input");
}

#[test]
fn a_call_runs_and_what_other_parties_add_to_it_is_ignored() {
    let params = json!({
        "name": "run_code",
        "arguments": {"code": "1", "sessionId": "x"},
        "task": {"ttl": 1}, "inputResponses": {}, "requestState": "s",
    });
    for (params, version) in
        [(params.clone(), Version::V2025_11_25), (modern(params), Version::V2026_07_28)]
    {
        let call = run(&mut protocol(), &params);
        assert_eq!(call.version, version);
        assert_eq!(call.job.code, "1");
        assert!(call.progress_token.is_none());
    }
}

#[test]
fn a_call_keeps_the_version_that_was_agreed_when_it_came() {
    for version in LEGACY {
        let params = json!({"name": "run_code", "arguments": {"code": "1"}});
        assert_eq!(run(&mut initialized(version), &params).version.name(), version);
    }
}

#[test]
fn results_have_the_fields_of_their_version() {
    let outcome = Outcome { stdout: captured("1\n"), ..test_outcome(Verdict::Success) };
    let tool = Tool::new(SandboxPolicy::default(), Always(Some(outcome)));
    let arguments = json!({"code": "1"}).as_object().unwrap().clone();
    let job = tool.prepare(arguments).unwrap();
    let result = tool.run(&job, &Stopper::default());
    for version in Version::ALL {
        let answer: Value = serde_json::from_str(call(version, &result).get()).unwrap();
        assert_eq!(answer["content"], json!([{"type": "text", "text": "1\n"}]));
        assert_eq!(answer["isError"], false);
        let structured = version >= Version::V2025_06_18;
        assert_eq!(answer.get("structuredContent").is_some(), structured);
        let modern = version == Version::V2026_07_28;
        assert_eq!(answer.get("resultType").is_some_and(|kind| kind == "complete"), modern);
        assert_eq!(answer.get("_meta").is_some(), modern);
    }
}

#[test]
fn a_subscription_is_kept_open_in_the_modern_era() {
    let params = modern(json!({"notifications": {"toolsListChanged": true}}));
    let kept = action(&mut protocol(), "subscriptions/listen", &params, Place::Alone);
    assert!(matches!(kept, Action::Subscribe));
}

#[test]
fn only_one_version_has_batches() {
    for version in LEGACY {
        assert_eq!(initialized(version).has_batches(), version == "2025-03-26");
    }
    assert!(!protocol().has_batches());
}

#[test]
fn neither_initialize_nor_a_modern_request_may_be_in_a_batch() {
    for (method, params) in [
        ("initialize", json!({"protocolVersion": "2025-11-25"})),
        ("tools/list", modern(json!({}))),
    ] {
        let mut protocol = initialized("2025-03-26");
        let refused = action(&mut protocol, method, &params, Place::InBatch);
        assert!(matches!(refused, Action::Reply(Err(error)) if error.code == -32600));
        assert!(protocol.has_batches(), "the version must not have changed");
    }
}
