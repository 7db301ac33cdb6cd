package dev.tollgate.local;

import dev.tollgate.local.template.Template;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The files that the stack deploys, as if they were in the buckets that its functions name. */
final class Assets {
  private final Template template;
  private final Set<String> buckets = ConcurrentHashMap.newKeySet();

  Assets(Template template) {
    this.template = template;
  }

  /** Makes a bucket known. */
  void addBucket(String name) {
    buckets.add(name);
  }

  /** The file under a key of a bucket. */
  Optional<Path> find(String bucket, String key) {
    return buckets.contains(bucket) ? template.asset(key) : Optional.empty();
  }
}
