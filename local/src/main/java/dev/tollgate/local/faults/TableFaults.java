package dev.tollgate.local.faults;

import dev.tollgate.local.endpoint.Call;
import io.undertow.server.HttpServerExchange;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/** The planned faults of tables. */
final class TableFaults {
  private final Faults faults;

  /** In a key condition numbers are instants: a query of the same kind has others. */
  private static final Pattern NUMBER = Pattern.compile("\\{\"N\":\"[^\"]*\"}");

  /** The last answers to queries of indexes, by the request's body without numbers. */
  private final Map<String, String> answers = new ConcurrentHashMap<>();

  TableFaults(Faults faults) {
    this.faults = faults;
  }

  /** Changes the answer of a request. */
  void change(HttpServerExchange exchange) {
    Call call = Call.of(exchange);
    if (call.service().equals("dynamodb")
        && call.operation().equals("Query")
        && call.body().contains("\"IndexName\"")) {
      boolean stale = faults.occurs(FaultKind.INDEX_STALE, call.resource().orElse(""));
      Call.changeAnswer(
          exchange,
          text -> {
            String before = answers.put(NUMBER.matcher(call.body()).replaceAll("N"), text);
            return stale && before != null ? before : text;
          });
    }
  }
}
