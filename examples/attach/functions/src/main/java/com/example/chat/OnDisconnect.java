package com.example.chat;

import java.util.Map;

/** Removes a member. */
public final class OnDisconnect extends Route {
  private final Members members = new Members();

  @Override
  int handle(Map<String, Object> event, Map<String, Object> request) {
    members.remove(connectionId(request));
    return 200;
  }
}
