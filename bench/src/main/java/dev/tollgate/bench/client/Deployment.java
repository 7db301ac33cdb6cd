package dev.tollgate.bench.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/**
 * A running deployment, with the tiers and tenants of one benchmark run.
 *
 * <p>Its control plane must accept unsigned requests, as that of {@code ./tollgate up} does. Ids of
 * tiers and tenants end in a random suffix, so that several runs can use one deployment.
 */
public final class Deployment implements AutoCloseable {
  private final Http http;
  private final Path outputs;
  private final JsonNode stack;
  private final URI controlPlane;
  private final URI sessions;
  private final String suffix =
      "%04x".formatted(ThreadLocalRandom.current().nextInt(0x10000)).toLowerCase(Locale.ROOT);
  private final List<String> tiers = new ArrayList<>();
  private final List<Tenant> tenants = new ArrayList<>();

  private Deployment(Http http, Path outputs, JsonNode stack) {
    this.http = http;
    this.outputs = outputs;
    this.stack = stack;
    this.controlPlane = output("ControlPlaneURL");
    this.sessions = output("SessionURL");
  }

  /**
   * Reads a deployment from its outputs, a file as {@code cdk deploy --outputs-file} writes it.
   *
   * @throws UncheckedIOException if the file cannot be read
   * @throws IllegalArgumentException if it contains no outputs of a Tollgate stack
   */
  public static Deployment read(Path outputs) {
    JsonNode stack;
    try {
      stack =
          StreamSupport.stream(Http.JSON.readTree(Files.readString(outputs)).spliterator(), false)
              .filter(one -> one.has("ControlPlaneURL") && one.has("SessionURL"))
              .findFirst()
              .orElseThrow(
                  () ->
                      new IllegalArgumentException(
                          outputs + " (expected: outputs of a Tollgate stack)"));
    } catch (IOException e) {
      throw new UncheckedIOException(outputs + ": " + e, e);
    }
    return new Deployment(new Http(), outputs, stack);
  }

  /**
   * An output that is a URL, such as {@code OperatorPage}.
   *
   * @throws IllegalStateException if there is no such output
   */
  public URI output(String name) {
    if (!stack.has(name)) {
      throw new IllegalStateException("output " + name + ": none (expected: an address)");
    }
    return URI.create(stack.get(name).asText());
  }

  /**
   * The issuer of the tokens that sessions require. Its key is in the directory of the outputs.
   *
   * @throws IllegalStateException if there is none
   */
  public Issuer issuer() {
    return Issuer.read(outputs.resolveSibling("issuer.key"));
  }

  /**
   * The environment variables of a program that claims tokens: the file {@code claims.env} in the
   * directory of the outputs.
   *
   * @throws IllegalStateException if it cannot be read
   */
  public Map<String, String> claimsEnvironment() {
    try {
      return Files.readAllLines(outputs.resolveSibling("claims.env")).stream()
          .map(line -> line.split("=", 2))
          .collect(Collectors.toMap(variable -> variable[0], variable -> variable[1]));
    } catch (IOException e) {
      throw new IllegalStateException("no environment for claims: " + e, e);
    }
  }

  /**
   * Creates a tier.
   *
   * @param name the first part of its name: lower-case letters, digits and hyphens
   * @param terms the JSON body of {@code PUT /tiers/{tier}}
   * @return its full name
   */
  public synchronized String tier(String name, String terms) {
    String tier = "bench-" + name + "-" + suffix;
    http.send("PUT", URI.create(controlPlane + "/tiers/" + tier), terms);
    tiers.add(tier);
    return tier;
  }

  /**
   * Onboards a tenant of a tier. Several may be onboarded at the same time.
   *
   * @param name the first part of its id: lower-case letters, digits and hyphens
   * @param tier the full name of the tier
   */
  public Tenant tenant(String name, String tier) {
    Tenant tenant = lastingTenant(name, tier);
    synchronized (this) {
      tenants.add(tenant);
    }
    return tenant;
  }

  /** Onboards a tenant that this run does not remove. Several threads may do so at once. */
  public Tenant lastingTenant(String name, String tier) {
    String id = "bench-" + name + "-" + suffix;
    http.send(
        "POST",
        URI.create(controlPlane + "/tenants"),
        """
        {"tenantId": "%s", "tier": "%s"}"""
            .formatted(id, tier));
    return new Tenant(
        http, id, URI.create(controlPlane + "/tenants/" + id), sessions, output("WebSocketURL"));
  }

  /** Offboards the created tenants and deletes the created tiers; ignores failures. */
  @Override
  public synchronized void close() {
    tenants.forEach(tenant -> http.tryToDelete(tenant.address()));
    tiers.forEach(tier -> http.tryToDelete(URI.create(controlPlane + "/tiers/" + tier)));
    tenants.clear();
    tiers.clear();
  }
}
