package com.example;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import dev.tollgate.client.Claim;
import dev.tollgate.client.TollgateClient;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Sends an email if the tenant's bucket {@code send-email} has a token.
 *
 * <p>The event is {@code {"tenantId": "initech", "to": "ann@example.com"}}.
 */
public final class SendEmail implements RequestHandler<Map<String, String>, Map<String, String>> {
  private final TollgateClient tollgate;
  private final Consumer<String> mail;

  /** Called by Lambda, once for each instance of the function. */
  public SendEmail() {
    this(TollgateClient.fromEnvironment(), to -> System.out.println("Email to " + to));
  }

  SendEmail(TollgateClient tollgate, Consumer<String> mail) {
    this.tollgate = tollgate;
    this.mail = mail;
  }

  @Override
  public Map<String, String> handleRequest(Map<String, String> event, Context context) {
    Claim claim = tollgate.bucket(event.get("tenantId"), "send-email").tryClaim();
    if (claim instanceof Claim.Denied denied) {
      return Map.of("status", "refused", "retryAt", denied.retryAt().toString());
    }
    if (claim instanceof Claim.Undecided undecided) {
      // The queue of the bucket failed. This function prefers a late email to one too many.
      throw new IllegalStateException(undecided.cause());
    }
    mail.accept(event.get("to"));
    return Map.of("status", "sent");
  }
}
