package com.example.chat;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import java.util.Map;

/** A function behind a route of the WebSocket API. */
abstract class Route implements RequestHandler<Map<String, Object>, Map<String, Object>> {
  @Override
  public Map<String, Object> handleRequest(Map<String, Object> event, Context context) {
    return Map.of("statusCode", handle(event, member(event, "requestContext")));
  }

  /** Handles an event and returns the status. */
  abstract int handle(Map<String, Object> event, Map<String, Object> request);

  @SuppressWarnings("unchecked") // the event is JSON
  static Map<String, Object> member(Map<String, Object> event, String name) {
    return (Map<String, Object>) event.get(name);
  }

  static String connectionId(Map<String, Object> request) {
    return (String) request.get("connectionId");
  }
}
