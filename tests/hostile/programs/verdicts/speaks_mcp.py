# ends: success
# prints: {"jsonrpc": "2.0", "id": 1, "result": {"content": [], "isError": false}}
import json

print(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}))
print(json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"content": [], "isError": False}}))
