package dev.tollgate.handlers.connect;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The subprotocols that a handshake offers (RFC 6455, section 4.1). */
final class Subprotocols {
  static final String HEADER = "Sec-WebSocket-Protocol";

  /** A subprotocol that begins with this text carries a token and is never selected. */
  static final String TOKEN = "tollgate.bearer.";

  private Subprotocols() {}

  /** A header by its name in any case. */
  static Optional<String> header(Map<String, String> headers, String name) {
    return headers.entrySet().stream()
        .filter(header -> header.getKey().equalsIgnoreCase(name))
        .map(Map.Entry::getValue)
        .findFirst();
  }

  /** The tokens that a header's value carries. */
  static List<String> tokens(String offered) {
    return split(offered)
        .filter(each -> each.startsWith(TOKEN))
        .map(each -> each.substring(TOKEN.length()))
        .toList();
  }

  /**
   * The first offered subprotocol without a token. A browser that offers subprotocols closes the
   * connection unless the server selects one, and the answer must not repeat the token.
   */
  static Optional<String> selected(String offered) {
    return split(offered).filter(each -> !each.startsWith(TOKEN)).findFirst();
  }

  private static Stream<String> split(String offered) {
    return Stream.of(offered.split(",")).map(String::strip).filter(each -> !each.isEmpty());
  }
}
