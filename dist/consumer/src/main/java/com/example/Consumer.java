package com.example;

import dev.tollgate.client.Claim;
import dev.tollgate.client.InMemoryTollgate;
import dev.tollgate.infra.TollgateProps;
import dev.tollgate.lawbook.LimiterLaws;
import dev.tollgate.local.LocalCloud;
import dev.tollgate.message.TenantMessage;
import dev.tollgate.message.TenantMessageHandler;
import dev.tollgate.socket.TollgateSocket;
import java.net.URI;
import java.util.List;

/** Uses each published library. */
public final class Consumer implements TenantMessageHandler {
  @Override
  public List<String> handle(TenantMessage message) {
    return List.of(message.json());
  }

  public static void main(String... arguments) {
    try (InMemoryTollgate tollgate = new InMemoryTollgate().put("acme", "send-email", 1, 1)) {
      Claim first = tollgate.bucket("acme", "send-email").tryClaim();
      Claim second = tollgate.bucket("acme", "send-email").tryClaim();
      if (!(first instanceof Claim.Granted) || !(second instanceof Claim.Denied)) {
        throw new AssertionError(first + " " + second);
      }
    }
    TollgateSocket.builder(URI.create("http://127.0.0.1:1/session"), "acme");
    TollgateProps.builder();
    if (!AutoCloseable.class.isAssignableFrom(LocalCloud.class)) {
      throw new AssertionError(LocalCloud.class);
    }
    System.out.println(LimiterLaws.ALL.size() + " laws; one token granted, and one denied");
  }
}
