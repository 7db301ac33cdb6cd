package dev.tollgate.console;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The deployment's settings for the pages: the URLs that they call, and how users get access.
 *
 * @param name the name of the deployment, that of its stack
 * @param release the version of the build
 * @param sessionUrl the URL that creates sessions, {@code https://…/session}
 * @param tenantUrl the URL that lists tenants' ids, if the deployment has one
 * @param webSocketUrl the URL that opens sockets, {@code wss://…}
 * @param sessionAccess who may create sessions: {@code open}, {@code signed} or {@code jwt}
 * @param lab whether the operator page has a lab that opens many connections of a tenant
 * @param signIn the sign-in of operators, if the deployment requires one
 */
record Settings(
    String name,
    String release,
    URI sessionUrl,
    Optional<URI> tenantUrl,
    URI webSocketUrl,
    String sessionAccess,
    boolean lab,
    Optional<SignIn> signIn) {

  /**
   * The sign-in pages of a user pool.
   *
   * @param domain the URL of the pages, {@code https://…} without a path
   * @param clientId the console's client id in the pool
   */
  record SignIn(URI domain, String clientId) {}

  /**
   * Reads the settings from a function's environment.
   *
   * @throws IllegalArgumentException if a variable is missing or is not a URL
   */
  static Settings of(Map<String, String> environment) {
    return new Settings(
        required(environment, "DEPLOYMENT"),
        buildRelease(),
        address(environment, "SESSION_URL"),
        Optional.ofNullable(environment.get("TENANT_URL")).map(URI::create),
        address(environment, "WEBSOCKET_URL"),
        required(environment, "SESSION_ACCESS"),
        Boolean.parseBoolean(environment.getOrDefault("LAB", "false")),
        Optional.ofNullable(environment.get("SIGN_IN_CLIENT_ID"))
            .map(client -> new SignIn(address(environment, "SIGN_IN_DOMAIN"), client)));
  }

  private static String buildRelease() {
    Properties build = new Properties();
    try (InputStream in = Settings.class.getResourceAsStream("build.properties")) {
      build.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return build.getProperty("release");
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

  /** The document {@code config.json}, which the pages load first. */
  String json() {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = new JsonFactory().createGenerator(text)) {
      json.writeStartObject();
      json.writeStringField("name", name);
      json.writeStringField("release", release);
      json.writeStringField("sessionUrl", sessionUrl.toString());
      if (tenantUrl.isPresent()) {
        json.writeStringField("tenantUrl", tenantUrl.get().toString());
      }
      json.writeStringField("webSocketUrl", webSocketUrl.toString());
      json.writeStringField("sessionAccess", sessionAccess);
      if (lab) {
        json.writeBooleanField("lab", true);
      }
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

  /** The other origins that the pages call, separated by blanks. */
  String origins() {
    return Stream.concat(Stream.of(sessionUrl, webSocketUrl), signIn.map(SignIn::domain).stream())
        .map(url -> url.getScheme() + "://" + url.getAuthority())
        .distinct()
        .collect(Collectors.joining(" "));
  }
}
