package dev.tollgate.local.endpoint;

import io.undertow.conduits.StoredResponseStreamSinkConduit;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.HeaderMap;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * A call of an AWS API and its answer, as they were sent.
 *
 * @param target path and query as the client encoded them
 * @param headers the first value of each header of the request; names are case-insensitive
 * @param status the HTTP status of the answer
 * @param answerHeaders the first value of each header of the answer; names are case-insensitive
 * @param answer the body of the answer, CBOR as JSON; absent if the caller did not get all of it
 */
public record Exchange(
    Call call,
    String target,
    Map<String, String> headers,
    int status,
    Map<String, String> answerHeaders,
    Optional<String> answer) {

  /** Reports an exchange when it is over. */
  static void observe(HttpServerExchange exchange, Call call, Consumer<Exchange> observer) {
    exchange.addResponseWrapper(
        (factory, answered) -> new StoredResponseStreamSinkConduit(factory.create(), answered));
    exchange.addExchangeCompleteListener(
        (answered, next) -> {
          Exchange done = of(answered, call);
          next.proceed();
          observer.accept(done);
        });
  }

  private static Exchange of(HttpServerExchange exchange, Call call) {
    String query = exchange.getQueryString();
    return new Exchange(
        call,
        exchange.getRequestURI() + (query.isEmpty() ? "" : "?" + query),
        firstValues(exchange.getRequestHeaders()),
        exchange.getStatusCode(),
        firstValues(exchange.getResponseHeaders()),
        Optional.ofNullable(exchange.getAttachment(StoredResponseStreamSinkConduit.RESPONSE))
            // A fault closes the connection; what is written after that reaches nobody.
            .filter(unused -> exchange.getConnection().isOpen())
            .map(
                body ->
                    RpcCbor.speaks(exchange)
                        ? RpcCbor.json(body)
                        : new String(body, StandardCharsets.UTF_8)));
  }

  private static Map<String, String> firstValues(HeaderMap headers) {
    Map<String, String> values = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    headers.forEach(header -> values.put(header.getHeaderName().toString(), header.getFirst()));
    return values;
  }
}
