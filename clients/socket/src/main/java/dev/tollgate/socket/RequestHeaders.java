package dev.tollgate.socket;

import java.net.URI;
import java.util.Map;

/**
 * The headers of requests to the session API. A socket asks for them before each request, because
 * tokens and signatures expire, and once more after a 401. Handshakes have none of them.
 */
@FunctionalInterface
public interface RequestHeaders {
  /**
   * The headers of a request without a body. Must not block for long. If it throws a {@link
   * RuntimeException}, the socket asks again later, as if nobody had answered.
   */
  Map<String, String> of(String method, URI uri);
}
