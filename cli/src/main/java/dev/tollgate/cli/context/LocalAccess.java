package dev.tollgate.cli.context;

import dev.tollgate.cli.http.Failure;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/**
 * Access to the alarms and the functions' logs of a local cloud.
 *
 * @param endpoint the URL of its AWS APIs
 */
public record LocalAccess(URI endpoint, String region, AwsCredentialsProvider credentials) {
  /** The file beside the outputs of a local cloud that contains its access. */
  public static final String FILE = "alarms.env";

  /**
   * The access to the local cloud that wrote these outputs.
   *
   * @throws Failure if the file beside the outputs cannot be read
   */
  public static LocalAccess of(Outputs outputs) {
    Path file = outputs.file().resolveSibling(FILE);
    Map<String, String> variables = new HashMap<>();
    try {
      for (String line : Files.readAllLines(file)) {
        int equals = line.indexOf('=');
        variables.put(line.substring(0, equals), line.substring(equals + 1));
      }
    } catch (IOException e) {
      throw Failure.unreadable(file + ", which `./tollgate up` writes", e);
    }
    return new LocalAccess(
        URI.create(variables.getOrDefault("AWS_ENDPOINT_URL", "")),
        variables.getOrDefault("AWS_REGION", ""),
        StaticCredentialsProvider.create(
            AwsSessionCredentials.create(
                variables.getOrDefault("AWS_ACCESS_KEY_ID", ""),
                variables.getOrDefault("AWS_SECRET_ACCESS_KEY", ""),
                variables.getOrDefault("AWS_SESSION_TOKEN", ""))));
  }
}
