package dev.tollgate.cli.http;

import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import org.jspecify.annotations.Nullable;

/** A response body that fails when it has more bytes than expected, before it fills the memory. */
final class BoundedBody<T> implements BodySubscriber<T> {
  private final BodySubscriber<T> whole;
  private final long limit;
  private long received;
  private @Nullable Subscription subscription;

  BoundedBody(BodySubscriber<T> whole, long limit) {
    this.whole = whole;
    this.limit = limit;
  }

  @Override
  public CompletionStage<T> getBody() {
    return whole.getBody();
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    this.subscription = subscription;
    whole.onSubscribe(subscription);
  }

  @Override
  public void onNext(List<ByteBuffer> buffers) {
    received += buffers.stream().mapToLong(ByteBuffer::remaining).sum();
    if (received <= limit) {
      whole.onNext(buffers);
    } else if (subscription != null) {
      subscription.cancel();
      onError(new IOException("the body has more than " + limit + " bytes"));
    }
  }

  @Override
  public void onError(Throwable failure) {
    whole.onError(failure);
  }

  @Override
  public void onComplete() {
    whole.onComplete();
  }
}
