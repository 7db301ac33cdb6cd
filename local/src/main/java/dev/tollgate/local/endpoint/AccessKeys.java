package dev.tollgate.local.endpoint;

import java.security.SecureRandom;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The issued credentials and their owners. */
public final class AccessKeys {
  private static final String ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

  private final SecureRandom random = new SecureRandom();
  private final Map<String, Issued> issued = new ConcurrentHashMap<>();

  /** An access key and its owner. */
  record Issued(
      AccessKey key, Principal principal, Instant expiresAt, Optional<String> assumedWith) {
    boolean expired(Instant now) {
      return !now.isBefore(expiresAt);
    }
  }

  /** Issues credentials that do not expire. */
  public AccessKey issue(Principal principal) {
    return issue(principal, Instant.MAX, Optional.empty());
  }

  /**
   * Issues credentials that expire.
   *
   * @param assumedWith the access key that the role was assumed with
   */
  AccessKey issue(Principal principal, Instant expiresAt, Optional<String> assumedWith) {
    StringBuilder id = new StringBuilder("ASIA");
    random.ints(16, 0, ALPHABET.length()).forEach(i -> id.append(ALPHABET.charAt(i)));
    AccessKey key = new AccessKey(id.toString(), randomText(30), randomText(96));
    issued.put(key.accessKeyId(), new Issued(key, principal, expiresAt, assumedWith));
    return key;
  }

  Optional<Issued> find(String accessKeyId) {
    return Optional.ofNullable(issued.get(accessKeyId))
        .filter(key -> key.assumedWith().map(source -> find(source).isPresent()).orElse(true));
  }

  /** Revokes credentials, and those of the roles that were assumed with them. */
  public void revoke(String accessKeyId) {
    issued.remove(accessKeyId);
  }

  /** Removes the keys that expired before an instant. */
  void forgetExpired(Instant before) {
    issued.values().removeIf(key -> key.expired(before));
  }

  private String randomText(int bytes) {
    byte[] text = new byte[bytes];
    random.nextBytes(text);
    return Base64.getEncoder().encodeToString(text);
  }
}
