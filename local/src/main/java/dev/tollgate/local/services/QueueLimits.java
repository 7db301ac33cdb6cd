package dev.tollgate.local.services;

import org.elasticmq.Limit;
import org.elasticmq.LimitedValue;
import org.elasticmq.Limits;
import org.elasticmq.RangeLimit;
import org.elasticmq.StrictSQSLimits$;
import scala.collection.immutable.List;

/**
 * The limits of SQS, as the engine knows them but for one that SQS has raised since: how long a
 * message may be.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html">Message
 *     quotas</a>
 */
final class QueueLimits implements Limits {
  private static final int MAX_MESSAGE_BYTES = 1024 * 1024;

  private final Limits engine = StrictSQSLimits$.MODULE$;

  @Override
  public Limit<Object> maxMessageLength() {
    return new LimitedValue<>(MAX_MESSAGE_BYTES);
  }

  @Override
  public Limit<Object> queueNameLengthLimit() {
    return engine.queueNameLengthLimit();
  }

  @Override
  public Limit<Object> batchSizeLimit() {
    return engine.batchSizeLimit();
  }

  @Override
  public Limit<RangeLimit<Object>> numberOfMessagesLimit() {
    return engine.numberOfMessagesLimit();
  }

  @Override
  public Limit<Object> nonEmptyAttributesLimit() {
    return engine.nonEmptyAttributesLimit();
  }

  @Override
  public Limit<List<RangeLimit<Object>>> bodyValidCharactersLimit() {
    return engine.bodyValidCharactersLimit();
  }

  @Override
  public Limit<RangeLimit<scala.math.BigDecimal>> numberAttributeValueLimit() {
    return engine.numberAttributeValueLimit();
  }

  @Override
  public Limit<RangeLimit<Object>> messageWaitTimeLimit() {
    return engine.messageWaitTimeLimit();
  }

  @Override
  public Limit<Object> messageAttributesLimit() {
    return engine.messageAttributesLimit();
  }
}
