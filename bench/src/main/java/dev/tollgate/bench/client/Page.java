package dev.tollgate.bench.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CancellationException;

/** A file of the console as it was received. */
public final class Page {
  private static final HttpClient CLIENT =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .followRedirects(HttpClient.Redirect.NORMAL)
          .build();

  private final HttpResponse<byte[]> response;

  private Page(HttpResponse<byte[]> response) {
    this.response = response;
  }

  /**
   * Downloads a file.
   *
   * @throws UncheckedIOException if there is no response
   */
  public static Page get(URI address, Map<String, String> headers) {
    HttpRequest.Builder request = HttpRequest.newBuilder(address).timeout(Http.ANSWER_TIME);
    headers.forEach(request::header);
    try {
      return new Page(CLIENT.send(request.build(), BodyHandlers.ofByteArray()));
    } catch (IOException e) {
      throw new UncheckedIOException(address + ": " + e, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CancellationException(address + ": interrupted");
    }
  }

  /** The URL after redirects. */
  public URI address() {
    return response.uri();
  }

  /** The HTTP status. */
  public int status() {
    return response.statusCode();
  }

  /** The length of the transferred body. */
  public int bytes() {
    return response.body().length;
  }

  /** A header; {@code none} if it is absent. */
  public String header(String name) {
    return response.headers().firstValue(name).orElse("none");
  }

  /** The body, if it is uncompressed text. */
  public String text() {
    return new String(response.body(), StandardCharsets.UTF_8);
  }
}
