package dev.tollgate.bench.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The AWS requests that a local cloud writes to the file of {@code tollgate up --requests}. */
public final class AwsRequests {
  /** The functions of a handshake. */
  public static final Set<String> HANDSHAKE = Set.of("Authorizer", "Connect");

  /** The functions that a client uses: those of a handshake, and the session API. */
  public static final Set<String> CLIENT = Set.of("Authorizer", "Connect", "SessionApi");

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Path file;
  private int read;

  /** The requests of a file that the local cloud is writing. */
  public AwsRequests(Path file) {
    this.file = file;
  }

  /**
   * The operations that functions have called since the last call of this method, except those for
   * a tenant's credentials, which are needed once in most of an hour.
   *
   * @throws UncheckedIOException if the file cannot be read
   */
  public List<String> next(Set<String> functions) {
    try {
      List<String> lines = Files.readAllLines(file);
      List<String> unread = lines.subList(read, lines.size());
      read = lines.size();
      List<String> operations = new ArrayList<>();
      for (String line : unread) {
        JsonNode request = JSON.readTree(line);
        if (functions.contains(request.path("caller").asText()) && !isForCredentials(request)) {
          operations.add(request.path("operation").asText());
        }
      }
      return operations;
    } catch (IOException e) {
      throw new UncheckedIOException(file + ": " + e, e);
    }
  }

  private static boolean isForCredentials(JsonNode request) {
    return request.path("operation").asText().equals("AssumeRole")
        || request.path("resource").asText().equals("TablesCredentials");
  }

  /** Operations for a person, such as {@code 3: BatchGetItem, 2 × UpdateItem}. */
  public static String summary(List<String> operations) {
    Map<String, Long> counts =
        operations.stream()
            .collect(Collectors.groupingBy(name -> name, TreeMap::new, Collectors.counting()));
    String names =
        counts.entrySet().stream()
            .map(one -> one.getValue() == 1 ? one.getKey() : one.getValue() + " × " + one.getKey())
            .collect(Collectors.joining(", "));
    return operations.isEmpty() ? "0" : operations.size() + ": " + names;
  }
}
