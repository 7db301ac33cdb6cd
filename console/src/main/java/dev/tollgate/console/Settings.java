package dev.tollgate.console;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What the pages must know of the deployment that they are of: the addresses that they call, and
 * how somebody gets in.
 *
 * @param sessionUrl where sessions are created, {@code https://…/session}
 * @param tenantUrl where tenants' ids are listed, if they are
 * @param webSocketUrl where sockets are opened, {@code wss://…}
 * @param sessionAccess who may create sessions: {@code open}, {@code signed} or {@code jwt}
 * @param signIn where an operator signs in, if that is asked for
 */
record Settings(
    URI sessionUrl,
    Optional<URI> tenantUrl,
    URI webSocketUrl,
    String sessionAccess,
    Optional<SignIn> signIn) {

  /**
   * The pages of a user pool for signing in.
   *
   * @param domain where they are, {@code https://…} without a path
   * @param clientId the name by which the pool knows the console
   */
  record SignIn(URI domain, String clientId) {}

  /**
   * Reads the settings from a function's environment.
   *
   * @throws IllegalArgumentException if a variable is missing or is no address
   */
  static Settings of(Map<String, String> environment) {
    return new Settings(
        address(environment, "SESSION_URL"),
        Optional.ofNullable(environment.get("TENANT_URL")).map(URI::create),
        address(environment, "WEBSOCKET_URL"),
        required(environment, "SESSION_ACCESS"),
        Optional.ofNullable(environment.get("SIGN_IN_CLIENT_ID"))
            .map(client -> new SignIn(address(environment, "SIGN_IN_DOMAIN"), client)));
  }

  private static URI address(Map<String, String> environment, String name) {
    URI address = URI.create(required(environment, name));
    if (address.getHost() == null) {
      throw new IllegalArgumentException(
          name + ": " + address + " (expected: https://… or wss://…)");
    }
    return address;
  }

  private static String required(Map<String, String> environment, String name) {
    String value = environment.get(name);
    if (value == null || value.isEmpty()) {
      throw new IllegalArgumentException(name + ": missing (expected: an environment variable)");
    }
    return value;
  }

  /** The document that the pages read first. */
  String json() {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = new JsonFactory().createGenerator(text)) {
      json.writeStartObject();
      json.writeStringField("sessionUrl", sessionUrl.toString());
      if (tenantUrl.isPresent()) {
        json.writeStringField("tenantUrl", tenantUrl.get().toString());
      }
      json.writeStringField("webSocketUrl", webSocketUrl.toString());
      json.writeStringField("sessionAccess", sessionAccess);
      if (signIn.isPresent()) {
        json.writeObjectFieldStart("signIn");
        json.writeStringField("domain", signIn.get().domain().toString());
        json.writeStringField("clientId", signIn.get().clientId());
        json.writeEndObject();
      }
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString();
  }

  /** The other origins that the pages call, between blanks. */
  String origins() {
    return Stream.concat(Stream.of(sessionUrl, webSocketUrl), signIn.map(SignIn::domain).stream())
        .map(url -> url.getScheme() + "://" + url.getAuthority())
        .distinct()
        .collect(Collectors.joining(" "));
  }
}
