package dev.tollgate.aws.sqs;

import static dev.tollgate.aws.SdkCalls.ask;

import dev.tollgate.core.message.PushPage;
import dev.tollgate.core.message.PushQueue;
import java.util.Map;
import java.util.TreeMap;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/**
 * The pages of pushes in a FIFO queue. The body of a message is what is pushed, so that it needs no
 * escapes. The message group is the tenant; the attributes are {@code id}, {@code idExpiresAt} in
 * seconds since the epoch if the caller gave the id and, from the second page on, {@code after}.
 *
 * @param url the queue's URL
 */
public record SqsPushQueue(SqsClient sqs, String url) implements PushQueue {
  private static final String ID = "id";
  private static final String ID_EXPIRES_AT = "idExpiresAt";
  private static final String AFTER = "after";

  @Override
  public void send(PushPage page) {
    Map<String, MessageAttributeValue> attributes = new TreeMap<>();
    attributes.put(ID, text(page.push().id()));
    page.idExpiresAt()
        .ifPresent(
            instant ->
                attributes.put(ID_EXPIRES_AT, text(Long.toString(instant.getEpochSecond()))));
    page.after().ifPresent(after -> attributes.put(AFTER, text(after)));
    ask(
        "SQS SendMessage of a page of pushes",
        () ->
            sqs.sendMessage(
                request ->
                    request
                        .queueUrl(url)
                        .messageGroupId(page.push().tenant().value())
                        .messageDeduplicationId(page.key())
                        .messageAttributes(attributes)
                        .messageBody(page.push().json())));
  }

  private static MessageAttributeValue text(String value) {
    return MessageAttributeValue.builder().dataType("String").stringValue(value).build();
  }
}
