package dev.tollgate.local.template;

import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The files that the stack deploys, by the bucket and key that its functions name. */
public final class Assets {
  private final Template template;
  private final Set<String> buckets = ConcurrentHashMap.newKeySet();

  /** The files of a template, in no bucket yet. */
  public Assets(Template template) {
    this.template = template;
  }

  /** Adds a bucket, which holds all files. */
  public void addBucket(String name) {
    buckets.add(name);
  }

  /** The file under a key of a bucket. */
  public Optional<Path> find(String bucket, String key) {
    return buckets.contains(bucket) ? template.asset(key) : Optional.empty();
  }
}
