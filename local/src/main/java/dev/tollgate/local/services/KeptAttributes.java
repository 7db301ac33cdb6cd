package dev.tollgate.local.services;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The attributes of queues that the engine does not keep, by queue and name; in a file, if they are
 * to last. Who reads does not wait for who writes.
 */
final class KeptAttributes {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Optional<Path> file;
  private final ConcurrentMap<String, Map<String, String>> byQueue;

  private KeptAttributes(Optional<Path> file, Map<String, Map<String, String>> byQueue) {
    this.file = file;
    this.byQueue = new ConcurrentSkipListMap<>(byQueue);
  }

  /**
   * Opens the attributes.
   *
   * @param directory where their file is; without it they are in memory only
   */
  static KeptAttributes open(Optional<Path> directory) {
    Optional<Path> file = directory.map(path -> path.resolve("queue-attributes.json"));
    try {
      return new KeptAttributes(
          file,
          file.isPresent() && Files.exists(file.get())
              ? JSON.readValue(
                  file.get().toFile(), new TypeReference<TreeMap<String, Map<String, String>>>() {})
              : new TreeMap<>());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Map<String, String> of(String queue) {
    return byQueue.getOrDefault(queue, Map.of());
  }

  synchronized void put(String queue, Map<String, String> attributes) {
    Map<String, String> all = new TreeMap<>(of(queue));
    all.putAll(attributes);
    byQueue.put(queue, Collections.unmodifiableMap(all));
    write();
  }

  synchronized void remove(String queue) {
    byQueue.remove(queue);
    write();
  }

  private void write() {
    file.ifPresent(
        path -> {
          try {
            Path written = path.resolveSibling(path.getFileName() + ".new");
            JSON.writeValue(written.toFile(), byQueue);
            Files.move(written, path, StandardCopyOption.REPLACE_EXISTING);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }
}
