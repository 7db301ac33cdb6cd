package dev.tollgate.aws.config;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.http.ExecutableHttpRequest;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.HttpExecuteResponse;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.SdkHttpResponse;

/** An HTTP client that can answer requests itself, with an empty JSON object, for a while. */
final class PrimedHttpClient implements SdkHttpClient {
  private final SdkHttpClient http;

  /**
   * The priming of the clients that use this one. Lambda references hooks weakly, and many
   * functions keep nothing but their clients, so a client keeps its priming.
   */
  private final Priming priming = Priming.of(this);

  private volatile boolean rehearsing;

  PrimedHttpClient(SdkHttpClient http) {
    this.http = http;
  }

  Priming priming() {
    return priming;
  }

  /** Runs requests that are answered here. No other request may run meanwhile. */
  void rehearse(Runnable requests) {
    rehearsing = true;
    try {
      requests.run();
    } finally {
      rehearsing = false;
    }
  }

  @Override
  public ExecutableHttpRequest prepareRequest(HttpExecuteRequest request) {
    return rehearsing ? new Rehearsal() : http.prepareRequest(request);
  }

  @Override
  public String clientName() {
    return http.clientName();
  }

  @Override
  public void close() {
    http.close();
  }

  private record Rehearsal() implements ExecutableHttpRequest {
    @Override
    public HttpExecuteResponse call() {
      return HttpExecuteResponse.builder()
          .response(SdkHttpResponse.builder().statusCode(200).build())
          .responseBody(
              AbortableInputStream.create(
                  new ByteArrayInputStream("{}".getBytes(StandardCharsets.UTF_8))))
          .build();
    }

    @Override
    public void abort() {}
  }
}
