package dev.tollgate.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.testing.limiter.TollgateLine;
import dev.tollgate.lawbook.LawBook;
import dev.tollgate.lawbook.LawViolation;
import dev.tollgate.lawbook.Line;
import dev.tollgate.lawbook.LineLaws;
import dev.tollgate.lawbook.Rate;
import dev.tollgate.lawbook.Setting;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

/** Checks the line of {@link TokenBucket} against the law book, in memory. */
final class ClientLineLawsTest {
  private static final int HISTORIES = 10;
  private static final BucketId ID = ClaimsClient.id("acme", "send-email");
  private static final double MICRO = 1_000_000;

  @Test
  void claims_in_line_keep_every_law() {
    LawBook.Report report = LawBook.ofLine(lines(ClientLineLawsTest::claimInLine)).hold(HISTORIES);
    LineLaws.ALL.forEach(law -> assertThat(report.judged(law)).as(law.name()).isGreaterThan(0));
  }

  @Test
  void claims_without_a_place_break_a_promise() {
    assertThatThrownBy(
            () ->
                LawBook.ofLine(lines((bucket, place) -> bucket.tryClaim()))
                    .only(List.of(LineLaws.TOLD_IS_ADMITTED))
                    .hold(HISTORIES))
        .isInstanceOf(LawViolation.class);
  }

  @Test
  void callers_with_and_without_a_place_get_no_more_tokens_than_there_are() {
    LawBook.ofLine(
            lines(
                (bucket, place) ->
                    place.isEmpty() && bucket.tryClaim() instanceof Claim.Granted granted
                        ? granted
                        : claimInLine(bucket, place)))
        .only(List.of(LineLaws.NEVER_MORE, LineLaws.EVERYBODY_IN))
        .hold(HISTORIES);
  }

  private static Claim claimInLine(TokenBucket bucket, Optional<Place> place) {
    return place.map(bucket::claim).orElseGet(bucket::claimInLine);
  }

  private static Line.Maker lines(BiFunction<TokenBucket, Optional<Place>, Claim> claim) {
    return new Line.Maker() {
      @Override
      public Line make(Setting setting, Line.Terms terms) {
        return new ClientLine(setting, terms, claim);
      }

      @Override
      public Line.Terms terms(Random random) {
        return TollgateLine.inMemory().terms(random);
      }
    };
  }

  /** A client's bucket as a line: each caller keeps the place that it was given. */
  private static final class ClientLine implements Line {
    private final Setting setting;
    private final BiFunction<TokenBucket, Optional<Place>, Claim> claim;
    private final InMemoryTollgate tollgate;
    private final TokenBucket bucket;
    private final Map<String, Place> places = new HashMap<>();

    ClientLine(
        Setting setting, Terms terms, BiFunction<TokenBucket, Optional<Place>, Claim> claim) {
      this.setting = setting;
      this.claim = claim;
      this.tollgate = new InMemoryTollgate(setting.clock().instant(), new ClaimListener() {});
      this.bucket = tollgate.bucket(ID.tenant().value(), ID.action().value());
      tollgate.put(
          ID.tenant().value(),
          ID.action().value(),
          micro(terms.rate()).microtokensPerMinute() / MICRO,
          terms.capacity());
    }

    private static dev.tollgate.core.bucket.Rate micro(Rate rate) {
      return new dev.tollgate.core.bucket.Rate(rate.tokens() * 60_000_000 / rate.per().toSeconds());
    }

    @Override
    public Answer claim(String caller) {
      advance();
      Claim result = claim.apply(bucket, Optional.ofNullable(places.remove(caller)));
      if (result instanceof Claim.Denied denied) {
        denied.place().ifPresent(place -> places.put(caller, place));
        return new Refused(denied.retryAt());
      }
      assertThat(result).isEqualTo(new Claim.Granted(1));
      return new Admitted();
    }

    @Override
    public void retune(Rate rate) {
      advance();
      tollgate.retune(ID, before -> new BucketSpec(micro(rate), before.capacity()));
    }

    private void advance() {
      tollgate.advance(Duration.between(tollgate.now(), setting.clock().instant()));
    }
  }
}
