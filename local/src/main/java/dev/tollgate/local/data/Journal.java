package dev.tollgate.local.data;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.local.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A file with one line of JSON for each change. When {@link #append} returns, the operating system
 * has the line, so it survives the end of this process. An incomplete last line is ignored.
 */
public final class Journal implements AutoCloseable {
  private final @Nullable Writer writer;

  private Journal(@Nullable Writer writer) {
    this.writer = writer;
  }

  /**
   * Opens a journal: replays it, and replaces it by one with only the present state.
   *
   * @param directory the directory of the journal; without it the journal keeps nothing
   * @param name the name of its file, which need not exist
   * @param replay receives each line
   * @param state gives the lines that describe the state after the replay
   */
  public static Journal open(
      Optional<Path> directory,
      String name,
      Consumer<JsonNode> replay,
      Supplier<Stream<JsonNode>> state) {
    if (directory.isEmpty()) {
      return new Journal(null);
    }
    Path file = directory.get().resolve(name);
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      if (Files.exists(file)) {
        replay(file, replay);
      }
      Path compact = file.resolveSibling(file.getFileName() + ".new");
      Files.write(compact, state.get().map(JsonNode::toString).toList());
      Files.move(
          compact, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      return new Journal(Files.newBufferedWriter(file, StandardOpenOption.APPEND));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Adds a line. */
  public synchronized void append(JsonNode line) {
    try {
      if (writer != null) {
        writer.write(line + "\n");
        writer.flush();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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

  private static void replay(Path file, Consumer<JsonNode> replay) throws IOException {
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
      replay.accept(line);
    }
  }
}
