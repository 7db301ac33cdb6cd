package com.example.chat;

import java.time.InstantSource;
import java.util.Map;

/** Removes a member. */
public final class OnDisconnect extends Route {
  private final Members members;

  public OnDisconnect() {
    this(System.getenv(), InstantSource.system());
  }

  public OnDisconnect(Map<String, String> environment, InstantSource clock) {
    members = new Members(environment);
  }

  @Override
  int handle(Map<String, Object> event, Map<String, Object> request) {
    members.remove(connectionId(request));
    return 200;
  }
}
