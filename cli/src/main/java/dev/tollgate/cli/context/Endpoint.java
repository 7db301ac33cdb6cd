package dev.tollgate.cli.context;

import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * Where a control plane is reached; it identifies the deployment. Spellings of the same URL have
 * equal endpoints: a trailing slash, letter case, a default port, the names of this machine.
 *
 * @param scheme {@code http} or {@code https}
 * @param host the host name or address in lower case; every loopback address is {@code localhost}
 * @param port the port, also if the URL does not name it
 * @param path the decoded path without empty and dot segments
 */
record Endpoint(String scheme, String host, int port, String path) {
  static final Set<String> HTTP = Set.of("http", "https");
  static final Set<String> WEB_SOCKET = Set.of("ws", "wss");

  private static final String LOCALHOST = "localhost";
  private static final int MAX_PORT = 65_535;

  static Endpoint of(URI url) {
    String scheme = scheme(url);
    int defaultPort = scheme.equals("https") ? 443 : 80;
    String path = url.normalize().getPath().replaceAll("/+", "/").replaceFirst("/$", "");
    return new Endpoint(
        scheme, host(url.getHost()), url.getPort() == -1 ? defaultPort : url.getPort(), path);
  }

  /**
   * Parses the URL of an API.
   *
   * @param schemes the schemes that are allowed, in lower case
   * @throws IllegalArgumentException with the text and what was expected
   */
  static URI url(String text, Set<String> schemes) {
    try {
      URI url = new URI(text);
      if (schemes.contains(scheme(url))
          && url.getHost() != null
          && url.getPort() != 0
          && url.getPort() <= MAX_PORT
          && url.getRawUserInfo() == null
          && url.getRawQuery() == null
          && url.getRawFragment() == null) {
        return url;
      }
    } catch (URISyntaxException e) {
      // The exception below has the text as well.
    }
    throw new IllegalArgumentException(
        text
            + (schemes.equals(HTTP)
                ? " (expected: an http or https URL without query or fragment)"
                : " (expected: a ws or wss URL without query or fragment)"));
  }

  private static String scheme(URI url) {
    return Optional.ofNullable(url.getScheme()).orElse("").toLowerCase(Locale.ROOT);
  }

  private static String host(String host) {
    String name = host.toLowerCase(Locale.ROOT).replaceFirst("\\.$", "");
    // Only addresses are resolved: a question to DNS takes time, and its answers change.
    if (!name.matches("\\[.*]|[0-9.]+")) {
      return name;
    }
    try {
      InetAddress address = InetAddress.getByName(name);
      return address.isLoopbackAddress() || address.isAnyLocalAddress()
          ? LOCALHOST
          : address.getHostAddress();
    } catch (UnknownHostException e) {
      return name;
    }
  }
}
