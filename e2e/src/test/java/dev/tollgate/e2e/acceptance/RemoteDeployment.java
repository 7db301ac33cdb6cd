package dev.tollgate.e2e.acceptance;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/** A deployment on AWS, known only by its outputs. Its time passes by itself. */
final class RemoteDeployment extends Deployment {
  private final Map<String, String> outputs;

  private RemoteDeployment(Map<String, String> outputs) {
    this.outputs = Map.copyOf(outputs);
  }

  /** Reads the outputs that {@code cdk deploy --outputs-file} wrote. */
  static RemoteDeployment of(Path file) {
    try {
      Map<String, String> outputs = new TreeMap<>();
      for (JsonNode stack : new ObjectMapper().readTree(file.toFile())) {
        stack.properties().forEach(entry -> outputs.put(entry.getKey(), entry.getValue().asText()));
      }
      return new RemoteDeployment(outputs);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public Map<String, String> outputs() {
    return outputs;
  }

  @Override
  public void pass(Duration time) throws InterruptedException {
    Thread.sleep(time.toMillis());
  }
}
