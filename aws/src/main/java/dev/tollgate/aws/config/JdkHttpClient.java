package dev.tollgate.aws.config;

import java.io.IOException;
import software.amazon.awssdk.http.ExecutableHttpRequest;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.HttpExecuteResponse;
import software.amazon.awssdk.http.SdkHttpClient;

/**
 * An HTTP client whose aborted requests fail with an {@link IOException}.
 *
 * <p>The SDK aborts a request that exceeds its time-out: another thread disconnects the {@code
 * HttpURLConnection} while it waits for the response. The JDK may then throw a {@link
 * NullPointerException} (its field {@code http} is null). The SDK would neither repeat the request
 * nor report a time-out, because it only knows I/O errors.
 */
final class JdkHttpClient implements SdkHttpClient {
  private final SdkHttpClient requests;

  /** A client that sends its requests with {@code requests}. */
  JdkHttpClient(SdkHttpClient requests) {
    this.requests = requests;
  }

  @Override
  public ExecutableHttpRequest prepareRequest(HttpExecuteRequest request) {
    ExecutableHttpRequest prepared = requests.prepareRequest(request);
    return new ExecutableHttpRequest() {
      @Override
      public HttpExecuteResponse call() throws IOException {
        try {
          return prepared.call();
        } catch (NullPointerException aborted) {
          throw new IOException("the connection was closed during the request", aborted);
        }
      }

      @Override
      public void abort() {
        prepared.abort();
      }
    };
  }

  @Override
  public String clientName() {
    return requests.clientName();
  }

  @Override
  public void close() {
    requests.close();
  }
}
