package dev.tollgate.local.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Runs the tests of a class against a synthesized stack on a local cloud, which starts before the
 * first test and stops after the last.
 *
 * <pre>{@code
 * @WithLocalCloud("cdk.out")
 * class OrdersTest {
 *   @Test
 *   void order_is_stored(@StackOutput("ApiUrl") String url, TestCloud cloud) throws Exception {
 *     ...
 *     cloud.cloud().settle();
 *     ...
 *   }
 *
 *   @Test
 *   void reminder_is_sent_after_a_day(TestCloud cloud) throws Exception {
 *     cloud.advance(Duration.ofDays(1));
 *     ...
 *   }
 *
 *   @Test
 *   void reader_cannot_write(@RoleCredentials("Reader") AccessKey key, URI aws) { ... }
 * }
 * }</pre>
 *
 * <p>Constructors, lifecycle methods and tests can have these parameters:
 *
 * <ul>
 *   <li>{@link TestCloud}: the cloud, and its clock to move
 *   <li>{@link ManualClock}: the clock alone
 *   <li>{@link dev.tollgate.local.endpoint.RecordedRequests}: the recorded AWS requests
 *   <li>{@link dev.tollgate.local.faults.Faults}: makes AWS requests fail
 *   <li>{@link java.net.URI}: where the AWS APIs of the cloud are, a value for {@code
 *       AWS_ENDPOINT_URL}
 *   <li>{@link String} with {@link StackOutput}: an output of the stack
 *   <li>{@link dev.tollgate.local.endpoint.AccessKey} with {@link RoleCredentials}: the credentials
 *       of a role of the stack; {@code cloud.cloud().accessKey("test")} may do everything
 * </ul>
 *
 * <p>A handler runs in the process and by the clock of the test if it gets the variables of its
 * function as an argument of a public constructor {@code (Map<String, String> environment,
 * InstantSource clock)}. The variables include the region, the endpoint and the credentials.
 * Handlers with the constructor without parameters alone, and functions in Node, run in processes
 * of their own, which have these variables in their environment and the machine's time.
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(LocalCloudExtension.class)
public @interface WithLocalCloud {
  /** The directory that {@code cdk synth} wrote. */
  String value() default "cdk.out";

  /**
   * Whether the class shares its cloud with all other classes of the test run that name the same
   * directory and share it, too.
   */
  boolean shared() default false;
}
