package dev.tollgate.aws.sqs;

import static dev.tollgate.aws.SdkCalls.ask;
import static dev.tollgate.aws.SdkCalls.askUnless;

import dev.tollgate.aws.credentials.TenantCredentials;
import dev.tollgate.core.Page;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.provisioning.BucketQueues;
import dev.tollgate.core.provisioning.QueueCreation;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.ListQueuesResponse;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueDeletedRecentlyException;
import software.amazon.awssdk.services.sqs.model.QueueDoesNotExistException;
import software.amazon.awssdk.services.sqs.model.QueueNameExistsException;

/**
 * Bucket queues: standard queues that SQS encrypts. They have no redrive policy, because a token
 * that was returned many times is still valid.
 */
public final class SqsBucketQueues implements BucketQueues {
  /** The tag that holds the deployment that owns a queue. */
  private static final String TAG = "tollgate-deployment";

  private final SqsClient sqs;
  private final QueueUrls urls;
  private final TenantCredentials credentials;
  private final Supplier<String> deployment;

  /**
   * Queues at {@code urls}.
   *
   * @param deployment the value of the tag; only called when a tag is written or compared
   */
  public SqsBucketQueues(
      SqsClient sqs, QueueUrls urls, TenantCredentials credentials, Supplier<String> deployment) {
    this.sqs = sqs;
    this.urls = urls;
    this.credentials = credentials;
    this.deployment = deployment;
  }

  /**
   * {@inheritDoc}
   *
   * <p>CreateQueue returns the same for a new and for an existing queue, so GetQueueAttributes
   * comes first. Only CreateQueue reports a recent deletion; the deleted queue may still respond
   * for a minute. CreateQueue leaves the tags of an existing queue alone.
   */
  @Override
  public QueueCreation ensure(BucketId id, Duration lifetime) {
    AwsRequestOverrideConfiguration tenant = credentials.as(id.tenant());
    boolean exists =
        askUnless(
                "SQS GetQueueAttributes of " + id,
                QueueDoesNotExistException.class,
                () ->
                    sqs.getQueueAttributes(
                        request ->
                            request
                                .overrideConfiguration(tenant)
                                .queueUrl(urls.of(id))
                                .attributeNames(QueueAttributeName.QUEUE_ARN)))
            .isPresent();
    QueueCreation creation =
        ask("SQS CreateQueue of " + id, () -> create(id, lifetime, tenant, exists));
    if (creation == QueueCreation.EXISTED) {
      ask(
          "SQS TagQueue of " + id,
          () ->
              sqs.tagQueue(
                  request ->
                      request.overrideConfiguration(tenant).queueUrl(urls.of(id)).tags(tags())));
    }
    return creation;
  }

  private Map<String, String> tags() {
    return Map.of(TAG, deployment.get());
  }

  private QueueCreation create(
      BucketId id, Duration lifetime, AwsRequestOverrideConfiguration tenant, boolean exists) {
    Map<QueueAttributeName, String> attributes =
        Map.of(
            QueueAttributeName.MESSAGE_RETENTION_PERIOD,
            Long.toString(lifetime.toSeconds()),
            QueueAttributeName.SQS_MANAGED_SSE_ENABLED,
            "true");
    try {
      sqs.createQueue(
          request ->
              request
                  .overrideConfiguration(tenant)
                  .queueName(urls.names().queue(id))
                  .attributes(attributes)
                  .tags(tags()));
      return exists ? QueueCreation.EXISTED : QueueCreation.CREATED;
    } catch (QueueDeletedRecentlyException deleted) {
      return QueueCreation.RECENTLY_DELETED;
    } catch (QueueNameExistsException differs) {
      sqs.setQueueAttributes(
          request ->
              request.overrideConfiguration(tenant).queueUrl(urls.of(id)).attributes(attributes));
      return QueueCreation.EXISTED;
    }
  }

  @Override
  public void setLifetime(BucketId id, Duration lifetime) {
    AwsRequestOverrideConfiguration tenant = credentials.as(id.tenant());
    askUnless(
        "SQS SetQueueAttributes of " + id,
        QueueDoesNotExistException.class,
        () ->
            sqs.setQueueAttributes(
                request ->
                    request
                        .overrideConfiguration(tenant)
                        .queueUrl(urls.of(id))
                        .attributes(
                            Map.of(
                                QueueAttributeName.MESSAGE_RETENTION_PERIOD,
                                Long.toString(lifetime.toSeconds())))));
  }

  @Override
  public Optional<Duration> lifetime(BucketId id) {
    AwsRequestOverrideConfiguration tenant = credentials.as(id.tenant());
    return askUnless(
            "SQS GetQueueAttributes of " + id,
            QueueDoesNotExistException.class,
            () ->
                sqs.getQueueAttributes(
                        request ->
                            request
                                .overrideConfiguration(tenant)
                                .queueUrl(urls.of(id))
                                .attributeNames(QueueAttributeName.MESSAGE_RETENTION_PERIOD))
                    .attributes()
                    .get(QueueAttributeName.MESSAGE_RETENTION_PERIOD))
        .map(seconds -> Duration.ofSeconds(Long.parseLong(seconds)));
  }

  /** {@inheritDoc} Uses the function's own role, because the list spans tenants. */
  @Override
  public Page<BucketId> list(Optional<String> cursor, int max) {
    String prefix = urls.names().prefix();
    ListQueuesResponse part =
        ask(
            "SQS ListQueues",
            () ->
                sqs.listQueues(
                    request -> {
                      request.maxResults(max);
                      cursor.ifPresent(request::nextToken);
                      if (!prefix.isEmpty()) {
                        request.queueNamePrefix(prefix);
                      }
                    }));
    List<BucketId> buckets =
        part.queueUrls().stream()
            .map(url -> url.substring(url.lastIndexOf('/') + 1))
            .map(urls.names()::findBucketByQueue)
            .flatMap(Optional::stream)
            .toList();
    return new Page<>(buckets, Optional.ofNullable(part.nextToken()));
  }

  @Override
  public Owner owner(BucketId id) {
    AwsRequestOverrideConfiguration tenant = credentials.as(id.tenant());
    return askUnless(
            "SQS ListQueueTags of " + id,
            QueueDoesNotExistException.class,
            () ->
                sqs.listQueueTags(
                        request -> request.overrideConfiguration(tenant).queueUrl(urls.of(id)))
                    .tags())
        .map(tags -> deployment.get().equals(tags.get(TAG)) ? Owner.THIS_DEPLOYMENT : Owner.OTHER)
        .orElse(Owner.NO_QUEUE);
  }

  @Override
  public void delete(BucketId id) {
    AwsRequestOverrideConfiguration tenant = credentials.as(id.tenant());
    askUnless(
        "SQS DeleteQueue of " + id,
        QueueDoesNotExistException.class,
        () ->
            sqs.deleteQueue(
                request -> request.overrideConfiguration(tenant).queueUrl(urls.of(id))));
  }
}
