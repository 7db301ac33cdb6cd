package dev.tollgate.local.testing;

import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.endpoint.Principal;
import io.undertow.server.HttpHandler;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Attaches calls to exchanges, as the endpoint does. */
public final class Calls {
  private Calls() {}

  /** Reads a request's body and attaches the call of an operation before a handler runs. */
  public static HttpHandler of(String operation, HttpHandler next) {
    return received -> {
      received.setMaxEntitySize(-1); // handlers have limits of their own
      received
          .getRequestReceiver()
          .receiveFullString(
              (exchange, body) -> {
                Map<String, String> query = new HashMap<>();
                exchange
                    .getQueryParameters()
                    .forEach((name, values) -> query.put(name, values.getFirst()));
                new Call(
                        "test",
                        operation,
                        Principal.of("test", "arn:aws:iam::000000000000:role/test"),
                        "",
                        Instant.EPOCH,
                        Optional.empty(),
                        exchange.getRequestMethod().toString(),
                        exchange.getRequestPath(),
                        query,
                        body)
                    .attachTo(exchange);
                exchange.dispatch(next);
              },
              StandardCharsets.UTF_8);
    };
  }
}
