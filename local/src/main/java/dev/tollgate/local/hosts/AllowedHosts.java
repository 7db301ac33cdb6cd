package dev.tollgate.local.hosts;

import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.HeaderValues;
import io.undertow.util.Headers;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The host names and origins of requests that a server accepts.
 *
 * <p>Every page in the user's browser can send requests to ports of this machine. Two checks refuse
 * them:
 *
 * <ul>
 *   <li>{@code Host} must be {@code localhost}, a name below it, an IP address, or an allowed name.
 *       A site that points its own name at 127.0.0.1 (DNS rebinding) still sends its own name.
 *   <li>{@code Origin}, which browsers send with handshakes of WebSockets and with all requests
 *       that change something, must be the host that is addressed, this machine, a name that was
 *       allowed with the port that is addressed, or an origin that the API's CORS settings allow.
 * </ul>
 *
 * <p>Programs send no {@code Origin} and pass the second check.
 *
 * @param names the names that are allowed besides those of this machine and IP addresses
 */
public record AllowedHosts(Set<String> names) {
  private static final Pattern AUTHORITY =
      Pattern.compile("(\\[[0-9a-f:.]+]|[a-z0-9._-]+)(:[0-9]{1,5})?");
  private static final Pattern ORIGIN = Pattern.compile("https?://(.+)");
  private static final Pattern IP_ADDRESS =
      Pattern.compile("\\[[0-9a-f:.]+]|[0-9]{1,3}(\\.[0-9]{1,3}){3}");
  private static final Pattern THIS_MACHINE =
      Pattern.compile("localhost|.+\\.localhost|127(\\.[0-9]{1,3}){3}|\\[::1]");

  /** Names and addresses of this machine, and all other IP addresses. */
  public static final AllowedHosts LOCAL = new AllowedHosts(Set.of());

  /** A host, and its port with the colon if there is one. */
  private record Authority(String host, String port) {
    static Optional<Authority> of(String text) {
      Matcher parts = AUTHORITY.matcher(lowerCase(text));
      return parts.matches()
          ? Optional.of(
              new Authority(parts.group(1), Objects.requireNonNullElse(parts.group(2), "")))
          : Optional.empty();
    }

    boolean isThisMachine() {
      return THIS_MACHINE.matcher(host).matches();
    }
  }

  /** Refuses what cannot be the name of a host. */
  public AllowedHosts {
    names.forEach(AllowedHosts::requireName);
    names = names.stream().map(AllowedHosts::lowerCase).collect(Collectors.toUnmodifiableSet());
  }

  /** Passes to a handler only requests that a program, or a page of an allowed host, has sent. */
  public HttpHandler before(HttpHandler handler) {
    return exchange -> {
      Optional<Refusal> refusal = refusal(exchange, origin -> false);
      if (refusal.isPresent()) {
        refusal.get().send(exchange);
      } else {
        handler.handleRequest(exchange);
      }
    };
  }

  /**
   * The refusal of a request; empty if the request is allowed.
   *
   * @param allowed whether the API that is addressed allows requests from pages of an origin
   */
  public Optional<Refusal> refusal(HttpServerExchange exchange, Predicate<String> allowed) {
    Optional<String> named = only(exchange.getRequestHeaders().get(Headers.HOST));
    Optional<Authority> host = named.flatMap(Authority::of).filter(this::allows);
    if (host.isEmpty()) {
      return Optional.of(Refusal.ofHost(named.orElse("")));
    }
    HeaderValues origins = exchange.getRequestHeaders().get(Headers.ORIGIN);
    if (origins == null) {
      return Optional.empty();
    }
    return only(origins).filter(o -> isOfHost(o, host.get()) || allowed.test(o)).isPresent()
        ? Optional.empty()
        : Optional.of(Refusal.ofOrigin(String.join(", ", origins)));
  }

  private boolean allows(Authority host) {
    return IP_ADDRESS.matcher(host.host).matches()
        || host.isThisMachine()
        || names.contains(host.host);
  }

  /**
   * Whether a page may send requests to this host. A page that was opened by an allowed name sends
   * its requests to the API endpoints, which are IP addresses.
   */
  private boolean isOfHost(String origin, Authority host) {
    Matcher site = ORIGIN.matcher(lowerCase(origin));
    return site.matches()
        && Authority.of(site.group(1))
            .filter(
                page ->
                    page.equals(host)
                        || page.isThisMachine()
                        || (names.contains(page.host) && page.port.equals(host.port)))
            .isPresent();
  }

  /** The value of a header; empty unless the header occurs exactly once. */
  private static Optional<String> only(@Nullable List<String> values) {
    return values != null && values.size() == 1 ? Optional.of(values.get(0)) : Optional.empty();
  }

  private static void requireName(String name) {
    if (Authority.of(name).filter(parsed -> parsed.port.isEmpty()).isEmpty()) {
      throw new IllegalArgumentException(
          "host: " + name + " (expected: a name without scheme and port, such as laptop.lan)");
    }
  }

  private static String lowerCase(String text) {
    return text.toLowerCase(Locale.ROOT);
  }
}
