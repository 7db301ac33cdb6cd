package dev.tollgate.core.housekeeping;

import static dev.tollgate.core.session.ConnectionCount.PARTS;

import dev.tollgate.core.session.ConnectionCount;
import dev.tollgate.core.session.Session;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The connections of a tenant's sessions by {@linkplain ConnectionCount part}: their number and a
 * digest. It takes 2 KB, however many sessions there are. The digest is a sum of 64-bit hashes, so
 * it does not depend on the order. Two sets with the same number and digest are the same, but for
 * one in 2^64 pairs.
 */
final class ConnectionParts {
  private final long[] sizes = new long[PARTS];
  private final long[] digests = new long[PARTS];
  private long sessions;

  /** Adds the connections of some sessions. */
  void add(List<Session> page) {
    sessions += page.size();
    for (Session session : page) {
      for (String id : session.connections()) {
        int part = ConnectionCount.partOf(id);
        sizes[part]++;
        digests[part] += hash(id);
      }
    }
  }

  /** The number of added sessions. */
  long sessions() {
    return sessions;
  }

  /** The number of connections in a part. */
  long size(int part) {
    return sizes[part];
  }

  /** Whether a part has the same connections here and there. */
  boolean isSame(int part, ConnectionParts other) {
    return sizes[part] == other.sizes[part] && digests[part] == other.digests[part];
  }

  /** Whether a count has exactly these connections in each part, and none in no part. */
  boolean isCountedBy(ConnectionCount count) {
    return count.unattributed() == 0
        && IntStream.range(0, PARTS).allMatch(part -> count.parts().get(part) == sizes[part]);
  }

  /** FNV-1a, and the finalizer of SplitMix64, which spreads similar ids. */
  private static long hash(String id) {
    long hash = 0xcbf29ce484222325L;
    for (int i = 0; i < id.length(); i++) {
      hash = (hash ^ id.charAt(i)) * 0x100000001b3L;
    }
    hash = (hash ^ (hash >>> 30)) * 0xbf58476d1ce4e5b9L;
    hash = (hash ^ (hash >>> 27)) * 0x94d049bb133111ebL;
    return hash ^ (hash >>> 31);
  }
}
