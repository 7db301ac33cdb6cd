package com.example.chat;

import java.util.Map;

/** Adds a member. Names have up to twenty letters; others are refused. */
public final class OnConnect extends Route {
  private final Members members = new Members();

  @Override
  int handle(Map<String, Object> event, Map<String, Object> request) {
    Map<String, Object> query = member(event, "queryStringParameters");
    String name = query.get("name").toString();
    if (!name.matches("[A-Za-z]{1,20}")) {
      return 403;
    }
    members.add(connectionId(request), query.get("workspace").toString(), name);
    return 200;
  }
}
