package dev.tollgate.aws.lambda;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.tollgate.core.connect.ApplicationFunction;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.lambda.LambdaClient;

/** An application's function behind Lambda's API. */
final class LambdaApplicationFunctionTest {
  /** A custom runtime may return any bytes. */
  @Test
  void an_answer_that_is_not_utf8_is_a_failure_of_the_application() throws Exception {
    HttpServer lambda =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    lambda.createContext(
        "/",
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          byte[] bytes = {'{', '"', (byte) 0xC3, (byte) 0x28, '"', '}'};
          exchange.sendResponseHeaders(200, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    lambda.start();
    try (LambdaClient client =
        LambdaClient.builder()
            .endpointOverride(URI.create("http://127.0.0.1:" + lambda.getAddress().getPort()))
            .region(Region.EU_CENTRAL_1)
            .credentialsProvider(
                StaticCredentialsProvider.create(AwsBasicCredentials.create("a", "b")))
            .build()) {
      ApplicationFunction.Reply reply =
          new LambdaApplicationFunction(client, "arn").invoke("{}", Duration.ofSeconds(20));
      assertThat(reply).isInstanceOf(ApplicationFunction.Failed.class);
    } finally {
      lambda.stop(0);
    }
  }
}
