package dev.tollgate.local.endpoint;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Journal;
import dev.tollgate.local.json.Json;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Base64;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The issued credentials and their owners. Those that expire are valid until then, also after a
 * restart with the same data directory: STS does not know which process uses them.
 */
public final class AccessKeys implements AutoCloseable {
  private static final String JOURNAL = "credentials.jsonl";
  private static final String ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

  private final SecureRandom random = new SecureRandom();
  private final Map<String, Issued> issued = new ConcurrentHashMap<>();
  private final PriorityQueue<Issued> expiring =
      new PriorityQueue<>(Comparator.comparing(Issued::expiresAt));
  private final Journal journal;

  /** Credentials that are kept in memory. */
  public AccessKeys() {
    this(Optional.empty());
  }

  /**
   * Reads the credentials that an earlier run issued.
   *
   * @param dataDirectory where credentials that expire are kept across restarts; without it they
   *     are in memory
   */
  public AccessKeys(Optional<Path> dataDirectory) {
    journal = new Journal(dataDirectory, JOURNAL);
    journal.values().forEach((id, kept) -> addExpiring(Issued.fromRecord(id, kept)));
  }

  /** An access key and its owner. */
  record Issued(AccessKey key, Principal principal, Instant expiresAt) {
    boolean expired(Instant now) {
      return !now.isBefore(expiresAt);
    }

    private JsonNode toRecord() {
      ObjectNode kept =
          Json.object()
              .put("secretAccessKey", key.secretAccessKey())
              .put("sessionToken", key.sessionToken())
              .put("name", principal.name())
              .put("roleArn", principal.roleArn())
              .put("expiresAt", expiresAt.toString());
      principal.issuedAt().ifPresent(at -> kept.put("issuedAt", at.toString()));
      ObjectNode tags = kept.putObject("sessionTags");
      principal.sessionTags().forEach(tags::put);
      return kept;
    }

    private static Issued fromRecord(String id, JsonNode kept) {
      Map<String, String> tags = new HashMap<>();
      kept.path("sessionTags")
          .properties()
          .forEach(tag -> tags.put(tag.getKey(), tag.getValue().asText()));
      return new Issued(
          new AccessKey(
              id, kept.path("secretAccessKey").asText(), kept.path("sessionToken").asText()),
          new Principal(
              kept.path("name").asText(),
              kept.path("roleArn").asText(),
              tags,
              Optional.of(kept.path("issuedAt").asText())
                  .filter(at -> !at.isEmpty())
                  .map(Instant::parse)),
          Instant.parse(kept.path("expiresAt").asText()));
    }
  }

  /** Issues credentials that do not expire, and that end with this process. */
  public AccessKey issue(Principal principal) {
    Issued added = withNewKey(principal, Instant.MAX);
    issued.put(added.key().accessKeyId(), added);
    return added.key();
  }

  /** Issues credentials that expire. */
  AccessKey issue(Principal principal, Instant expiresAt) {
    Issued added = withNewKey(principal, expiresAt);
    addExpiring(added);
    journal.put(added.key().accessKeyId(), added.toRecord());
    return added.key();
  }

  private synchronized void addExpiring(Issued added) {
    issued.put(added.key().accessKeyId(), added);
    expiring.add(added);
  }

  private Issued withNewKey(Principal principal, Instant expiresAt) {
    StringBuilder id = new StringBuilder("ASIA");
    random.ints(16, 0, ALPHABET.length()).forEach(i -> id.append(ALPHABET.charAt(i)));
    AccessKey key = new AccessKey(id.toString(), randomText(30), randomText(96));
    return new Issued(key, principal, expiresAt);
  }

  Optional<Issued> find(String accessKeyId) {
    return Optional.ofNullable(issued.get(accessKeyId));
  }

  /**
   * Revokes credentials that do not expire. Those of roles that were assumed with them stay valid,
   * as with STS.
   */
  public void revoke(String accessKeyId) {
    issued.remove(accessKeyId);
  }

  /** Removes the keys that expired before an instant. */
  synchronized void forgetExpired(Instant before) {
    while (!expiring.isEmpty() && expiring.peek().expired(before)) {
      String id = expiring.remove().key().accessKeyId();
      issued.remove(id);
      journal.remove(id);
    }
  }

  @Override
  public void close() {
    journal.close();
  }

  private String randomText(int bytes) {
    byte[] text = new byte[bytes];
    random.nextBytes(text);
    return Base64.getEncoder().encodeToString(text);
  }
}
