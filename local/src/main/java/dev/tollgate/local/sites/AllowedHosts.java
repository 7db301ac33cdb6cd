package dev.tollgate.local.sites;

import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.HeaderValues;
import io.undertow.util.Headers;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The host names that requests may use, and the web sites whose pages may send requests.
 *
 * <p>Every page in the user's browser can send requests to ports of this machine. Two checks
 * prevent that:
 *
 * <ul>
 *   <li>{@code Host} must be {@code localhost}, a name below it, an IP address, or a name that was
 *       allowed. A site that points its own name at 127.0.0.1 (DNS rebinding) still sends its own
 *       name.
 *   <li>{@code Origin}, which browsers send with handshakes of WebSockets and with all requests
 *       that change something, must be the host that is addressed, this machine, a name that was
 *       allowed with the port that is addressed, or an origin that the API's CORS settings allow.
 * </ul>
 *
 * <p>Programs send no {@code Origin} and pass the second check.
 */
public final class AllowedHosts {
  /** Names and addresses of this machine, and all other IP addresses. */
  public static final AllowedHosts LOCAL = new AllowedHosts(Set.of());

  private static final Pattern AUTHORITY =
      Pattern.compile("(\\[[0-9a-f:.]+]|[a-z0-9._-]+)(:[0-9]{1,5})?");
  private static final Pattern ORIGIN = Pattern.compile("https?://(.+)");
  private static final Pattern IP_ADDRESS =
      Pattern.compile("\\[[0-9a-f:.]+]|[0-9]{1,3}(\\.[0-9]{1,3}){3}");
  private static final Pattern THIS_MACHINE =
      Pattern.compile("localhost|.+\\.localhost|127(\\.[0-9]{1,3}){3}|\\[::1]");

  private final Set<String> names;

  private AllowedHosts(Set<String> names) {
    this.names = names;
  }

  /**
   * These names as well.
   *
   * @throws IllegalArgumentException if one cannot be the name of a host
   */
  public AllowedHosts and(Collection<String> more) {
    more.forEach(AllowedHosts::requireName);
    return new AllowedHosts(
        Stream.concat(names.stream(), more.stream())
            .map(AllowedHosts::lowerCase)
            .collect(Collectors.toUnmodifiableSet()));
  }

  /** Lets a handler see only requests that a program, or a page of this machine, has sent. */
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
   * Why a request is not taken; empty if it is.
   *
   * @param allowed whether the API that is addressed lets pages of an origin ask it
   */
  public Optional<Refusal> refusal(HttpServerExchange exchange, Predicate<String> allowed) {
    Optional<String> host = only(exchange.getRequestHeaders().get(Headers.HOST));
    if (host.isEmpty() || !allows(host.get())) {
      return Optional.of(Refusal.ofHost(host.orElse("")));
    }
    HeaderValues origins = exchange.getRequestHeaders().get(Headers.ORIGIN);
    if (origins == null) {
      return Optional.empty();
    }
    Optional<String> origin = only(origins);
    return origin.filter(o -> isOfHost(o, host.get()) || allowed.test(o)).isPresent()
        ? Optional.empty()
        : Optional.of(Refusal.ofOrigin(String.join(", ", origins)));
  }

  private boolean allows(String authority) {
    return hostIn(authority)
        .filter(
            host ->
                IP_ADDRESS.matcher(host).matches()
                    || THIS_MACHINE.matcher(host).matches()
                    || names.contains(host))
        .isPresent();
  }

  /**
   * Whether a page may send requests to this host. A page that was opened by an allowed name sends
   * its requests to the API endpoints, which are IP addresses.
   */
  private boolean isOfHost(String origin, String host) {
    Matcher site = ORIGIN.matcher(lowerCase(origin));
    if (!site.matches()) {
      return false;
    }
    String authority = site.group(1);
    return authority.equals(lowerCase(host))
        || hostIn(authority)
            .filter(
                name ->
                    THIS_MACHINE.matcher(name).matches()
                        || (names.contains(name) && portIn(authority).equals(portIn(host))))
            .isPresent();
  }

  /** The host without its port, in lower case; empty if the text names none. */
  private static Optional<String> hostIn(String authority) {
    Matcher parts = AUTHORITY.matcher(lowerCase(authority));
    return parts.matches() ? Optional.of(parts.group(1)) : Optional.empty();
  }

  /** The port with its colon; empty if the text has none. */
  private static String portIn(String authority) {
    Matcher parts = AUTHORITY.matcher(lowerCase(authority));
    return parts.matches() && parts.group(2) != null ? parts.group(2) : "";
  }

  /** A header that must be there once. */
  private static Optional<String> only(@Nullable List<String> values) {
    return values != null && values.size() == 1 ? Optional.of(values.get(0)) : Optional.empty();
  }

  private static void requireName(String name) {
    if (hostIn(name).filter(lowerCase(name)::equals).isEmpty()) {
      throw new IllegalArgumentException(
          "host: " + name + " (expected: a name without scheme and port, such as laptop.lan)");
    }
  }

  private static String lowerCase(String text) {
    return text.toLowerCase(Locale.ROOT);
  }
}
