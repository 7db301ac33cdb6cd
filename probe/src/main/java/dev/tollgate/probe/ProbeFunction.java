package dev.tollgate.probe;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestStreamHandler;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Authorizer and routes of the probe's WebSocket APIs. It logs each event as one line and answers
 * as the query string of the handshake asks: {@code authorizer} is {@code allow} (default), {@code
 * deny} or {@code throw}; {@code connect} is a status such as {@code 429} (default {@code 200}) or
 * {@code throw}. A refusal has the header {@code Probe-Header}.
 */
public final class ProbeFunction implements RequestStreamHandler {
  /** Only events of authorizers have it. */
  private static final Pattern METHOD_ARN = member("methodArn", "[^\"]+");

  private static final Pattern AUTHORIZER = member("authorizer", "allow|deny|throw");
  private static final Pattern CONNECT = member("connect", "[1-5][0-9][0-9]|throw");
  private static final Pattern RUN = member("run", "[a-z0-9-]+");

  @Override
  public void handleRequest(InputStream input, OutputStream output, Context context)
      throws IOException {
    String event = new String(input.readAllBytes(), UTF_8);
    context.getLogger().log(event + "\n");
    output.write(answer(event).getBytes(UTF_8));
  }

  /**
   * The answer to an event.
   *
   * @throws IllegalStateException if the query string asks for an exception
   */
  static String answer(String event) {
    Matcher methodArn = METHOD_ARN.matcher(event);
    if (methodArn.find()) {
      String decision = value(AUTHORIZER, event, "allow");
      refuse(decision);
      return """
          {"principalId":"probe","policyDocument":{"Version":"2012-10-17","Statement":[\
          {"Action":"execute-api:Invoke","Effect":"%s","Resource":"%s"}]},\
          "context":{"tenantId":"probe","sessionId":"s","run":"%s","number":1,"flag":true}}"""
          .formatted(
              decision.equals("allow") ? "Allow" : "Deny",
              methodArn.group(1),
              value(RUN, event, "none"));
    }
    String status = value(CONNECT, event, "200");
    refuse(status);
    return """
        {"statusCode":%s,"headers":{"Probe-Header":"probe","Retry-After":"7"},"body":"probe"}"""
        .formatted(status);
  }

  private static void refuse(String asked) {
    if (asked.equals("throw")) {
      throw new IllegalStateException("The query string asks for an exception.");
    }
  }

  private static String value(Pattern member, String event, String absent) {
    Matcher found = member.matcher(event);
    return found.find() ? found.group(1) : absent;
  }

  private static Pattern member(String name, String value) {
    return Pattern.compile("\"" + name + "\"\\s*:\\s*\"(" + value + ")\"");
  }
}
