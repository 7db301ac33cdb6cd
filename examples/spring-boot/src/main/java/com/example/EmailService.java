package com.example;

import dev.tollgate.client.TollgateClient;
import java.time.InstantSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** A service whose tenants may send a limited number of emails. */
@SpringBootApplication
public class EmailService {
  public static void main(String[] arguments) {
    SpringApplication.run(EmailService.class, arguments);
  }

  /** One client for the whole process. Spring closes it when the service stops. */
  @Bean
  TollgateClient tollgate() {
    return TollgateClient.fromEnvironment();
  }

  @Bean
  InstantSource clock() {
    return InstantSource.system();
  }
}
