package dev.tollgate.cli.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkClientException;

class RequestSignerTest {
  private static final URI API =
      URI.create("https://abc123.execute-api.eu-west-1.amazonaws.com/tenants?next=a%2Fb");
  private static final Clock CLOCK =
      Clock.fixed(Instant.parse("2026-03-01T10:00:00Z"), ZoneOffset.UTC);

  @Test
  void for_api_signs_for_every_api_on_aws() {
    assertThat(forApi("https://abc123.execute-api.eu-west-1.amazonaws.com")).isPresent();
    assertThat(forApi("https://abc123.execute-api.cn-north-1.amazonaws.com.cn")).isPresent();
    assertThat(forApi("http://127.0.0.1:8080/control")).isEmpty();
  }

  @Test
  void a_custom_domain_is_signed_for_the_given_region() {
    URI custom = URI.create("https://api.example.com/tollgate");

    RequestSigner signer =
        RequestSigner.forApi(custom, Optional.of("eu-west-1"), Optional.empty()).orElseThrow();

    System.setProperty("aws.accessKeyId", "AKIDEXAMPLE");
    System.setProperty("aws.secretAccessKey", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
    try {
      assertThat(signer.sign("GET", custom, new byte[0]).get("Authorization"))
          .contains("/eu-west-1/execute-api/aws4_request, SignedHeaders=host;");
    } finally {
      System.clearProperty("aws.accessKeyId");
      System.clearProperty("aws.secretAccessKey");
    }
  }

  @Test
  void a_custom_domain_is_signed_for_the_default_region() {
    System.setProperty("aws.region", "ap-south-1");
    try {
      assertThat(forApi("https://api.example.com")).isPresent();
    } finally {
      System.clearProperty("aws.region");
    }
  }

  @Test
  void a_custom_domain_without_a_region_says_how_to_name_one() {
    assertThatThrownBy(
            () ->
                RequestSigner.forApi(
                    URI.create("https://api.example.com"),
                    Optional.empty(),
                    Optional.of("no-such-profile")))
        .isInstanceOf(Failure.class)
        .hasMessage(
            "Cannot sign requests to api.example.com: its AWS Region is unknown. Use --region, or set"
                + " AWS_REGION.");
  }

  @Test
  void sign_carries_key_date_region_and_service() {
    Map<String, String> headers = signer("eu-west-1").sign("GET", API, new byte[0]);

    assertThat(headers.get("Authorization"))
        .startsWith(
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260301/eu-west-1/execute-api/aws4_request,"
                + " SignedHeaders=host;")
        .containsPattern("Signature=[0-9a-f]{64}$");
    assertThat(headers).containsEntry("X-Amz-Date", "20260301T100000Z").doesNotContainKey("Host");
  }

  @Test
  void sign_depends_on_method_path_body_and_region() {
    byte[] body = "{}".getBytes(StandardCharsets.UTF_8);

    assertThat(signer("eu-west-1").sign("POST", API, body).get("Authorization"))
        .isEqualTo(signer("eu-west-1").sign("POST", API, body).get("Authorization"))
        .isNotEqualTo(signer("eu-west-1").sign("PUT", API, body).get("Authorization"))
        .isNotEqualTo(signer("eu-west-1").sign("POST", API, new byte[0]).get("Authorization"))
        .isNotEqualTo(signer("us-east-1").sign("POST", API, body).get("Authorization"))
        .isNotEqualTo(
            signer("eu-west-1").sign("POST", API.resolve("/tiers"), body).get("Authorization"));
  }

  @Test
  void sign_with_temporary_credentials_sends_their_token() {
    var session = AwsSessionCredentials.create("AKIDEXAMPLE", "secret", "token");
    var signer = new RequestSigner(StaticCredentialsProvider.create(session), "eu-west-1", CLOCK);

    assertThat(signer.sign("GET", API, new byte[0])).containsEntry("X-Amz-Security-Token", "token");
  }

  @Test
  void sign_without_credentials_says_how_to_get_some() {
    var signer =
        new RequestSigner(
            () -> {
              throw SdkClientException.create("none");
            },
            "eu-west-1",
            CLOCK);

    assertThatThrownBy(() -> signer.sign("GET", API, new byte[0]))
        .isInstanceOf(Failure.class)
        .hasMessageStartingWith("No AWS credentials to sign the request with. Sign in");
  }

  private static RequestSigner signer(String region) {
    var key = AwsBasicCredentials.create("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
    return new RequestSigner(StaticCredentialsProvider.create(key), region, CLOCK);
  }

  private static Optional<RequestSigner> forApi(String uri) {
    return RequestSigner.forApi(URI.create(uri), Optional.empty(), Optional.empty());
  }
}
