package dev.tollgate.cli.local;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.local.endpoint.Exchange;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A file with a line of JSON for each request to an AWS service. Each line is written when the
 * request has been answered. Bodies are not written, because they may contain secrets.
 */
final class RequestFile implements Consumer<Exchange>, AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Writer writer;

  private RequestFile(Writer writer) {
    this.writer = writer;
  }

  /**
   * Creates a file, or empties it.
   *
   * @throws Failure if it cannot be written
   */
  static RequestFile create(Path file) {
    try {
      return new RequestFile(Files.newBufferedWriter(file));
    } catch (IOException e) {
      throw Failure.usage("--requests: " + file + ": " + e + " (expected: a writable file)");
    }
  }

  @Override
  public synchronized void accept(Exchange exchange) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("at", exchange.call().at().toString());
    line.put("caller", exchange.call().principal().name());
    line.put("service", exchange.call().service());
    line.put("operation", exchange.call().operation());
    exchange.call().resource().ifPresent(resource -> line.put("resource", resource));
    line.put("status", exchange.status());
    try {
      writer.write(JSON.writeValueAsString(line) + "\n");
      writer.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public synchronized void close() {
    try {
      writer.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
