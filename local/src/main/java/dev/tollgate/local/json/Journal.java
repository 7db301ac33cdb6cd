package dev.tollgate.local.json;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/**
 * A map of JSON values that is kept in a file, with one line for each change. When a change
 * returns, the operating system has its line, so it survives the end of this process. An incomplete
 * last line is ignored. Readers do not wait for writers.
 */
public final class Journal implements AutoCloseable {
  private static final String KEY = "key";
  private static final String VALUE = "value";

  private final Map<String, JsonNode> values = new ConcurrentSkipListMap<>();
  private final @Nullable Writer writer;

  /**
   * Reads the map from its file, and replaces the file by one without superseded lines.
   *
   * @param directory the directory of the file; without it the map is in memory
   * @param name the name of the file, which need not exist
   */
  public Journal(Optional<Path> directory, String name) {
    try {
      writer = directory.isEmpty() ? null : open(directory.get(), name);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The present values by key, in the order of the keys. */
  public Map<String, JsonNode> values() {
    return values;
  }

  /** The value of a key; a {@link MissingNode} if it has none. */
  public JsonNode get(String key) {
    return values.getOrDefault(key, MissingNode.getInstance());
  }

  /** Sets the value of a key. */
  public synchronized void put(String key, JsonNode value) {
    values.put(key, value);
    append(line(key, value));
  }

  /** Removes a key. */
  public synchronized void remove(String key) {
    values.remove(key);
    append(Json.object().put(KEY, key));
  }

  @Override
  public void close() {
    try {
      if (writer != null) {
        writer.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void append(JsonNode line) {
    try {
      if (writer != null) {
        writer.write(line + "\n");
        writer.flush();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Writer open(Path directory, String name) throws IOException {
    Files.createDirectories(directory.toAbsolutePath());
    Path file = directory.resolve(name);
    if (Files.exists(file)) {
      read(file);
    }
    Path compact = directory.resolve(name + ".new");
    Files.write(
        compact,
        values.entrySet().stream()
            .map(entry -> line(entry.getKey(), entry.getValue()).toString())
            .toList());
    Files.move(compact, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    return Files.newBufferedWriter(file, StandardOpenOption.APPEND);
  }

  private void read(Path file) throws IOException {
    List<String> lines = Files.readAllLines(file);
    for (int i = 0; i < lines.size(); i++) {
      JsonNode line;
      try {
        line = Json.readStrictly(lines.get(i));
      } catch (JsonProcessingException e) {
        if (i == lines.size() - 1) {
          return;
        }
        throw new IOException(file + ":" + (i + 1) + ": not JSON", e);
      }
      if (!line.has(KEY)) {
        throw new IOException(
            file
                + ":"
                + (i + 1)
                + ": no \"key\"; another version wrote it. Use an empty directory.");
      }
      String key = line.get(KEY).asText();
      if (line.has(VALUE)) {
        values.put(key, line.get(VALUE));
      } else {
        values.remove(key);
      }
    }
  }

  private static ObjectNode line(String key, JsonNode value) {
    return Json.object(VALUE, value).put(KEY, key);
  }
}
